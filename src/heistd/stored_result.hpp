// How a journal keeps what jobs give.
#pragma once

#include <heistd/job_result.hpp>
#include <heistd/journal/job_record.hpp>
#include <string>
#include <string_view>

namespace heistd {

/// Blocks of bytes are shared and not copied; a JSON value is small.
[[nodiscard]] StoredResult to_stored(const JobResult& result);

/// What to_stored() was given.
[[nodiscard]] JobResult from_stored(std::string_view description, std::string bytes);

}  // namespace heistd
