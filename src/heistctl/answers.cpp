#include <algorithm>
#include <array>
#include <heistctl/answers.hpp>
#include <heistctl/failure.hpp>
#include <heistctl/render.hpp>
#include <nlohmann/json.hpp>

namespace heistctl {
namespace {

using Json = nlohmann::json;

Failure not_heistd(const std::string& why) {
  return {ExitCode::unreachable,
          "what answers there is not heistd, or another version of it: " + why};
}

/// What is nested further has no end: to write it, or to free it, would take too much of the stack.
bool is_flat_enough(int depth, Json::parse_event_t /*event*/, const Json& /*so_far*/) {
  constexpr int deepest = 64;
  if (depth > deepest) throw not_heistd("a value of its reply is nested too deeply");
  return true;
}

/// Reads a reply by a function of its JSON.
template <class Read>
auto read_answer(const std::string& body, Read read) {
  try {
    return read(Json::parse(body, &is_flat_enough));
  } catch (const Json::exception& error) {
    throw not_heistd(error.what());
  }
}

/// Null when it is no JSON as heistd's is.
Json parse_if_ours(const std::string& body) {
  try {
    return Json::parse(body, &is_flat_enough);
  } catch (const std::exception&) {
    return {};
  }
}

/// A name, an id or a word of heistd's, which is printed as it is.
std::string plain(std::string text) {
  if (printable(text) == text && text.find_first_of("\t\n") == std::string::npos) return text;
  throw not_heistd("a name in its reply has control characters");
}

template <class Value>
std::optional<Value> member_of(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || found->is_null()) return std::nullopt;
  return found->get<Value>();
}

std::string text_of(const Json& json, const char* name) {
  return member_of<std::string>(json, name).value_or("");
}

Job job_of(const Json& json) {
  Job job{.id = plain(json.at("id")),
          .kind = plain(json.at("kind")),
          .state = plain(json.at("state")),
          .priority = plain(json.at("priority")),
          .signal = plain(text_of(json, "signal")),
          .bytes = json.at("bytes"),
          .progress = member_of<double>(json, "progress"),
          .queue_delay_us = member_of<double>(json, "queue_delay_us"),
          .run_time_us = member_of<double>(json, "run_time_us"),
          .attempts = member_of<unsigned>(json, "attempts"),
          .max_attempts = member_of<unsigned>(json, "max_attempts"),
          .error_code = {},
          .error_message = {},
          .json = json.dump()};
  const auto error = json.contains("error") ? json.find("error") : json.find("last_error");
  if (error == json.end()) return job;
  job.error_code = text_of(*error, "code");
  job.error_message = text_of(*error, "message");
  return job;
}

Level level_of(const Json& json) {
  const auto& delay = json.at("queue_delay_us");
  return {.priority = json.at("priority"),
          .queued = json.at("queued"),
          .running = json.at("running"),
          .delayed = json.at("delayed"),
          .done = json.at("done"),
          .failed = json.at("failed"),
          .dead = json.at("dead"),
          .delay_p50_us = delay.at("p50"),
          .delay_p99_us = delay.at("p99")};
}

Refusal refusal_of(const Json& error) {
  return {text_of(error, "code"), text_of(error, "message"), text_of(error, "field")};
}

}  // namespace

Refusal parse_refusal(long status, const std::string& body) {
  const auto json = parse_if_ours(body);
  const auto is_ours = json.is_object() && json.contains("error") && json["error"].is_object();
  if (!is_ours) return {"status " + std::to_string(status), "it is not heistd that answers", ""};
  return read_answer(body, [](const Json& whole) { return refusal_of(whole["error"]); });
}

bool Job::has_ended() const noexcept {
  static constexpr std::array<std::string_view, 4> ends{"done", "failed", "aborted", "dead"};
  return std::ranges::find(ends, state) != ends.end();
}

Job parse_job(const std::string& body) { return read_answer(body, job_of); }

std::vector<BulkJob> parse_bulk(const std::string& body) {
  return read_answer(body, [](const Json& json) {
    std::vector<BulkJob> jobs;
    for (const auto& job : json.at("jobs")) {
      const auto error = job.find("error");
      if (error == job.end()) {
        jobs.push_back({.id = job.at("id"), .refusal = {}});
      } else {
        jobs.push_back({.id = {}, .refusal = refusal_of(*error)});
      }
    }
    return jobs;
  });
}

JobPage parse_page(const std::string& body) {
  return read_answer(body, [](const Json& json) {
    JobPage page;
    for (const auto& job : json.at("jobs")) page.jobs.push_back(job_of(job));
    page.cursor = text_of(json, "cursor");
    return page;
  });
}

Stats parse_stats(const std::string& body) {
  return read_answer(body, [](const Json& json) {
    Stats stats{.client = json.at("client"),
                .jobs_held = json.at("jobs_held"),
                .bytes_held = json.at("bytes_held"),
                .levels = {}};
    for (const auto& level : json.at("levels")) stats.levels.push_back(level_of(level));
    return stats;
  });
}

std::string parse_member(const std::string& body, const std::string& name) {
  return read_answer(body, [&name](const Json& json) {
    const auto found = json.find(name);
    if (found == json.end()) return std::string();
    return found->is_string() ? found->get<std::string>() : found->dump();
  });
}

}  // namespace heistctl
