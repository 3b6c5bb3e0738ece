// What the server says in JSON of all but jobs, which job_text.hpp has.
#pragma once

#include <heistd/client.hpp>
#include <heistd/job.hpp>
#include <heistd/refusal.hpp>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

namespace heistd {

using Json = nlohmann::ordered_json;

/// As text; bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string dump(const Json& json);

/// The same without a newline at its end, or anywhere.
[[nodiscard]] std::string line(const Json& json);

[[nodiscard]] Json error_json(const Refusal& refusal);
[[nodiscard]] Json stats_json(const Client& client);
/// How many jobs of each priority there are in each state, and how long those have waited that are
/// in `delays`.
[[nodiscard]] Json levels_json(const Client& client, std::span<const DurationHistogram, 3> delays);
[[nodiscard]] Json signal_json(std::string_view name, const SignalGroup& group);
[[nodiscard]] Json kind_json(const Kind& kind, const Client& client);

}  // namespace heistd
