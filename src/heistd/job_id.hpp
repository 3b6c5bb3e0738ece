// JobId: a name that nobody can guess.
#pragma once

#include <string>
#include <string_view>

namespace heistd {

/// 128 random bits as 32 hexadecimal digits.
using JobId = std::string;

/// Takes the bits from the system's generator.   Errors: std::system_error.
[[nodiscard]] JobId make_job_id();

/// True for text of the right form; whether there is such a job is another question.
[[nodiscard]] bool is_job_id(std::string_view text) noexcept;

}  // namespace heistd
