// Parameters of a job as one text, for journals.
#pragma once

#include <heistd/journal/job_record.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace heistd {

/// Each name and value behind its length, so that they may have any bytes.
[[nodiscard]] std::string encode(const JobParameters& parameters);
/// Nothing for a text that was not made so.
[[nodiscard]] std::optional<JobParameters> decode_parameters(std::string_view text);

}  // namespace heistd
