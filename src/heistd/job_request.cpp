#include <algorithm>
#include <heistd/job_request.hpp>
#include <heistd/limits.hpp>
#include <utility>

namespace heistd {
namespace {

std::optional<heist::TaskPriority> read_priority(QueryReader& query, const Client& client) {
  const auto priority = query.priority("priority");
  if (priority && *priority > client.ceiling) {
    query.refuse(
        {403, "above_ceiling",
         "this client may use no priority above " + std::string(heist::to_string(client.ceiling)),
         "priority"});
  }
  return priority;
}

std::string read_signal_name(QueryReader& query) {
  const auto name = query.text("signal");
  if (name && !is_name(*name)) {
    query.refuse(bad_parameter("signal", "must be 1 to 64 letters, digits, '.', '_' or '-'"));
  }
  return name.value_or("");
}

/// What is empty would stand for jobs of all kinds, though one was to be named.
std::string read_kind_of_jobs(QueryReader& query) {
  const auto name = query.text("kind");
  if (name && !is_name(*name)) {
    query.refuse(bad_parameter("kind", "must be 1 to 64 letters, digits, '.', '_' or '-'"));
  }
  return name.value_or("");
}

JobId read_after(QueryReader& query) {
  const auto id = query.text("after");
  if (id && !is_job_id(*id)) {
    query.refuse(bad_parameter("after", "must be the id of a job, as its acceptance has said it"));
  }
  return id.value_or("");
}

std::optional<std::chrono::milliseconds> read_ttl(QueryReader& query,
                                                  std::chrono::milliseconds delay) {
  const auto ttl = query.limit("ttl", max_ttl);
  if (ttl && *ttl <= delay) {
    query.refuse(bad_parameter("ttl", "must be longer than the delay, or the job never starts"));
  }
  return ttl;
}

std::optional<JobState> read_state(QueryReader& query) {
  const auto name = query.text("state");
  if (!name) return std::nullopt;
  const auto state = parse_job_state(*name);
  if (!state) {
    query.refuse(
        bad_parameter("state", "must be delayed, queued, running, done, failed, aborted or dead"));
  }
  return state;
}

/// A list begins behind nothing.
AcceptanceOrder read_cursor(QueryReader& query, const ListCursor& cursor) {
  const auto text = query.text("cursor");
  if (!text) return 0;
  const auto after = cursor.open(*text);
  if (!after) {
    query.refuse(bad_parameter("cursor",
                               "must be the cursor of a list that this server has given since its "
                               "start; without one a list begins anew"));
  }
  return after.value_or(0);
}

/// As variables of a program's environment have them.
bool is_variable(std::string_view name) noexcept {
  return is_name(name) && name.find_first_of(".-") == std::string_view::npos;
}

void read_any_parameters(QueryReader& query, Parameters& parameters) {
  const auto names = query.unread();
  if (names.size() > max_any_parameters) {
    return query.refuse(bad_parameter(names.back(), "a job of this kind takes " +
                                                        std::to_string(max_any_parameters) +
                                                        " parameters at the most"));
  }
  for (const auto& name : names) {
    auto value = query.text(name).value_or("");
    if (!is_variable(name)) {
      query.refuse(bad_parameter(name, "a name here is 1 to 64 letters, digits or '_'"));
    }
    if (value.find('\0') != std::string::npos) {
      query.refuse(bad_parameter(name, "must be a text without a null character"));
    }
    parameters.emplace(name, std::move(value));
  }
}

Parameters read_parameters(QueryReader& query, const Kind& kind) {
  Parameters parameters;
  for (const auto& parameter : kind.parameters) {
    auto value = query.text(parameter.name);
    if (!value) {
      if (parameter.required) {
        query.refuse(bad_parameter(parameter.name, "a job of this kind needs this parameter"));
      }
      continue;
    }
    if (auto complaint = complaint_about(parameter, *value)) {
      query.refuse(bad_parameter(parameter.name, std::move(*complaint)));
    }
    parameters.emplace(parameter.name, std::move(*value));
  }
  return parameters;
}

}  // namespace

Result<JobRequest> read_job_request(const Kind& kind, const Target& target, const Client& client) {
  QueryReader query(target);
  JobRequest request;
  request.kind = &kind;
  request.priority = read_priority(query, client);
  request.delay = query.duration("delay", max_delay);
  request.ttl = read_ttl(query, request.delay);
  request.timeout = query.limit("timeout", max_timeout);
  request.signal_name = read_signal_name(query);
  request.after = read_after(query);
  request.wait = query.patience("wait");
  request.max_attempts =
      query.count("max_attempts", most_max_attempts).value_or(request.max_attempts);
  request.parameters = read_parameters(query, kind);
  if (kind.takes_any_parameter) read_any_parameters(query, request.parameters);
  if (auto refusal = query.finish()) return std::move(*refusal);
  return request;
}

JobRequest request_of(const StoredJob& job, const Kind& kind) {
  JobRequest request;
  request.kind = &kind;
  request.parameters = Parameters(job.parameters.begin(), job.parameters.end());
  request.priority = job.priority;
  request.delay = job.delay;
  request.ttl = job.ttl;
  request.timeout = job.timeout;
  request.signal_name = job.signal_name;
  request.after = job.after;
  request.max_attempts = job.max_attempts;
  request.request_id = job.request_id;
  return request;
}

bool takes(const Kind& kind, const JobParameters& given) {
  const Parameters parameters(given.begin(), given.end());
  return std::ranges::all_of(kind.parameters, [&](const Parameter& parameter) {
    const auto found = parameters.find(parameter.name);
    if (found == parameters.end()) return !parameter.required;
    return !complaint_about(parameter, found->second);
  });
}

Result<JobQuery> read_job_query(const Target& target, const ListCursor& cursor) {
  QueryReader query(target);
  JobQuery wanted;
  wanted.state = read_state(query);
  wanted.kind = query.text("kind").value_or("");
  wanted.signal_name = read_signal_name(query);
  wanted.most = query.count("limit", max_listed).value_or(wanted.most);
  wanted.after = read_cursor(query, cursor);
  if (auto refusal = query.finish()) return std::move(*refusal);
  return wanted;
}

Result<JobQuery> read_sweep_query(const Target& target, bool requeues) {
  QueryReader query(target);
  JobQuery wanted;
  wanted.state = requeues ? JobState::dead : read_state(query);
  if (!wanted.state || !is_end(*wanted.state)) {
    query.refuse(bad_parameter(
        "state", "must be given, as done, failed, aborted or dead: such jobs are forgotten"));
  }
  wanted.kind = read_kind_of_jobs(query);
  wanted.signal_name = read_signal_name(query);
  if (auto refusal = query.finish()) return std::move(*refusal);
  return wanted;
}

Result<heist::TaskPriority> read_new_priority(const Target& target, const Client& client) {
  QueryReader query(target);
  const auto priority = read_priority(query, client);
  if (!priority) query.refuse(bad_parameter("priority", "the new priority is missing"));
  if (auto refusal = query.finish()) return std::move(*refusal);
  return *priority;
}

}  // namespace heistd
