// What the server says in JSON.
#pragma once

#include <heistd/blocks.hpp>
#include <heistd/client.hpp>
#include <heistd/job.hpp>
#include <heistd/refusal.hpp>
#include <nlohmann/json.hpp>
#include <string>

namespace heistd {

using Json = nlohmann::ordered_json;

/// As text; bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string dump(const Json& json);

/// As text, with the lines of the search whose result the JSON shows, if it shows one.
[[nodiscard]] Body render(const Json& json, const JobResult* result);

[[nodiscard]] Json error_json(const Refusal& refusal);
[[nodiscard]] Json job_json(const Job& job);
[[nodiscard]] Json stats_json(const Client& client);

/// Without the lines of a search, which render() puts in.   Precondition: not a CompressResult,
/// which is no text.
[[nodiscard]] Json result_json(const JobResult& result);

}  // namespace heistd
