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

/// Whether that of a StoredResult is of bytes: then a part of these is a part of the reply.
[[nodiscard]] bool describes_bytes(std::string_view description) noexcept;

}  // namespace heistd
