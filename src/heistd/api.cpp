#include <heistd/api.hpp>
#include <heistd/job_request.hpp>
#include <heistd/json.hpp>
#include <heistd/memory_reserve.hpp>
#include <heistd/network_reserve.hpp>
#include <utility>

namespace heistd {
namespace {

Reply json_reply(unsigned status, const Json& json) {
  Reply reply;
  reply.status = status;
  reply.body = {dump(json)};
  return reply;
}

Reply job_reply(unsigned status, const Job& job) {
  Reply reply;
  reply.status = status;
  reply.body = MemoryReserve::guard([&job] { return render(job); });
  return reply;
}

Reply with_location(Reply reply, const Job& job) {
  reply.headers.emplace_back("Location", "/jobs/" + job.id);
  return reply;
}

Reply bytes_reply(const BytesResult& result) {
  Reply reply;
  reply.content_type = result.content_type;
  reply.body = {"", result.data};
  return reply;
}

Reply value_reply(const JsonResult& result) {
  Reply reply;
  reply.body = result.text;
  reply.body.after += '\n';
  return reply;
}

std::string microseconds(std::chrono::nanoseconds duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(duration).count());
}

/// The reply to whoever waited for a job that did not get done.
Reply undone_reply(const Job& job, unsigned status) {
  Refusal refusal{status, "aborted", std::string(job.end().abort_reason)};
  if (job.end().failure) {
    refusal.code = job.end().failure->code();
    refusal.message = job.end().failure->what();
  } else if (job.end().state == JobState::failed) {
    refusal = out_of_memory();
  }
  auto reply = make_reply(refusal);
  reply.body = MemoryReserve::guard([&] {
    auto json = error_json(refusal);
    json["job"] = job_json(job);
    return Body{dump(json)};
  });
  return reply;
}

template <class T>
Result<Api::Step> as_step(Result<T> result) {
  if (!result) return result.error();
  return std::move(*result);
}

bool is_observation(Resource resource) noexcept {
  return resource == Resource::dump || resource == Resource::trace || resource == Resource::metrics;
}

}  // namespace

Api::Step Api::begin(const RequestHead& head, Unchecked unchecked) {
  auto handled = handle(head, unchecked);
  if (!handled) return make_reply(handled.error());
  return std::move(*handled);
}

Result<Api::Step> Api::handle(const RequestHead& head, Unchecked unchecked) {
  const auto target = parse_target(head.target);
  if (!target) return target.error();
  const auto route = find_route(head.method, *target, kinds_);
  if (!route) return route.error();
  if (route->resource != Resource::kind && head.has_body()) {
    return Refusal{400, "unexpected_body", "a request like this has no body"};
  }
  if (route->resource == Resource::health) return as_step(health(*target));
  const auto client = clients_.authenticate(head.authorization);
  if (!client) return client.error();
  if (head.place != nullptr && !head.place->begin(**client)) {
    return unavailable("too_many_connections", "too many requests are under way");
  }
  if (route->resource == Resource::kind) {
    return begin_upload(*route, head, *target, **client, unchecked);
  }
  if (is_observation(route->resource)) {
    return observe(*route, *target, **client);
  }
  if (service_.keeper() != nullptr && route->method != Method::get) {
    return store_change(*route, *target, **client);
  }
  if (route->method == Method::put) return as_step(put_signal(*route, *target, **client));
  if (auto refusal = QueryReader(*target).finish()) return std::move(*refusal);
  return as_step(handle_plain(*route, **client));
}

Api::Handled Api::handle_plain(const Route& route, Client& client) {
  switch (route.resource) {
    case Resource::stats:
      return json_reply(200, stats_json(client));
    case Resource::job:
      return job(route, client);
    case Resource::job_result:
      return job_result(route, client);
    default:
      return erase_signal(route, client);
  }
}

Result<Api::Step> Api::begin_upload(const Route& route, const RequestHead& head,
                                    const Target& target, Client& client, Unchecked unchecked) {
  const NetworkReserve::Withheld only_what_is_left;
  auto request = read_job_request(*kinds_.find(route.name), target, client);
  if (!request) return request.error();
  if (service_.shutting_down()) return unavailable("shutting_down", "the server is shutting down");
  auto ticket = client.budget->take_job();
  if (!ticket) {
    return unavailable("queue_full", "this client has " + std::to_string(limits_.max_queued) +
                                         " unfinished jobs already");
  }
  if (auto step = judge_parameters(client, *request, unchecked)) return std::move(*step);
  Upload upload(client, std::move(*request), std::move(*ticket), limits_.max_body,
                service_.disposal_for(client));
  if (auto refusal = note_key(head, upload)) return std::move(*refusal);
  if (auto refusal = upload.reserve_wait()) return std::move(*refusal);
  if (!head.chunked) {
    if (auto refusal = upload.announce(head.content_length.value_or(0))) return std::move(*refusal);
  }
  return Step(std::move(upload));
}

/// Nothing when the request may go on.
std::optional<Result<Api::Step>> Api::judge_parameters(Client& client, const JobRequest& request,
                                                       Unchecked unchecked) {
  const auto about = checked_text(*request.kind, request.parameters);
  if (about.empty()) return std::nullopt;
  if (const auto* const verdict = client.verdicts.find(about)) {
    if (!verdict->refusal) return std::nullopt;
    return Result<Step>(*verdict->refusal);
  }
  if (unchecked == Unchecked::accept) return std::nullopt;
  auto check = service_.check_parameters(client, request);
  if (!check) return Result<Step>(check.error());
  return Result<Step>(Step(Checking{std::move(*check)}));
}

/// What agents do concerns all clients (SEC-1).
Result<Api::Step> Api::observe(const Route& route, const Target& target, const Client& client) {
  if (!client.is_operator) {
    return Refusal{403, "not_operator", "only the client that --operator names may see this"};
  }
  const auto as_observing = [](Result<std::shared_ptr<Observation>> started) -> Result<Step> {
    if (!started) return started.error();
    return Step(Observing{std::move(*started)});
  };
  if (route.resource == Resource::trace) {
    const auto request = read_trace_request(target);
    if (!request) return request.error();
    return as_observing(observer_.trace(*request));
  }
  if (auto refusal = QueryReader(target).finish()) return std::move(*refusal);
  if (route.resource == Resource::dump) return as_observing(observer_.dump());
  return as_observing(observer_.metrics(job_figures(clients_)));
}

std::variant<Reply, Waiting, Storing> Api::finish(Upload upload) {
  if (service_.keeper() != nullptr) {
    auto stored = store(std::move(upload));
    return stored ? std::move(*stored) : make_reply(stored.error());
  }
  Client& client = upload.client();
  const bool wait = upload.request().wait;
  auto job = upload.submit(service_);
  if (!job) return make_reply(job.error());
  auto answer = accepted(client, std::move(*job), wait, upload.take_wait());
  return std::visit(
      [](auto&& step) -> std::variant<Reply, Waiting, Storing> { return std::move(step); },
      std::move(answer));
}

std::variant<Reply, Waiting> Api::accepted(Client& client, std::shared_ptr<Job> job, bool wait,
                                           Quota::Share share) {
  if (wait) return Waiting{&client, std::move(job), std::move(share)};
  return with_location(job_reply(202, *job), *job);
}

Reply Api::waited(const Job& job) const {
  const auto& end = job.end();
  if (end.state == JobState::failed) {
    return with_location(undone_reply(job, end.failure ? 422 : 503), job);
  }
  if (end.state == JobState::aborted) {
    return with_location(undone_reply(job, service_.shutting_down() ? 503 : 409), job);
  }
  const auto* const bytes = std::get_if<BytesResult>(end.result.get());
  if (bytes == nullptr) return with_location(job_reply(200, job), job);
  auto reply = with_location(bytes_reply(*bytes), job);
  reply.headers.emplace_back("Heistd-Queue-Delay-Us", microseconds(end.times.queue_delay));
  reply.headers.emplace_back("Heistd-Run-Time-Us", microseconds(end.times.run));
  return reply;
}

void Api::drop(const Waiting& waiting) {
  service_.abort(*waiting.client, *waiting.job, "the client that waited disconnected");
}

Api::Handled Api::health(const Target& target) const {
  if (auto refusal = QueryReader(target).finish()) return std::move(*refusal);
  if (service_.shutting_down()) return unavailable("shutting_down", "the server is shutting down");
  return json_reply(200, {{"status", "ok"}});
}

Api::Handled Api::job(const Route& route, Client& client) {
  const auto job = service_.find(client, route.name);
  if (!job) return not_found("this client has no such job");
  if (route.method == Method::erase) return erase_job(*job, client);
  return job_reply(200, *job);
}

Api::Handled Api::erase_job(Job& job, Client& client) {
  if (!job.finished()) return abort_job(job, client);
  client.jobs.drop(job);
  return job_reply(200, job);
}

/// A job that has finished meanwhile stays.
Reply Api::abort_job(Job& job, Client& client) {
  service_.abort(client, job, job_deleted);
  return job_reply(200, job);
}

Api::Handled Api::job_result(const Route& route, Client& client) {
  const auto job = service_.find(client, route.name);
  if (!job) return not_found("this client has no such job");
  if (!job->finished()) return Refusal{409, "not_finished", "the job has not finished yet"};
  if (!job->end().result) {
    return Refusal{409, "no_result", "the job is " + std::string(to_string(job->state()))};
  }
  const auto& result = *job->end().result;
  if (const auto* const bytes = std::get_if<BytesResult>(&result)) return bytes_reply(*bytes);
  return value_reply(std::get<JsonResult>(result));
}

Api::Handled Api::put_signal(const Route& route, const Target& target, Client& client) {
  const auto priority = read_signal_priority(target, client);
  if (!priority) return priority.error();
  const bool existed = client.signals.find(route.name) != nullptr;
  const auto group = put_group(client, route.name, *priority);
  if (!group) return group.error();
  return json_reply(existed ? 200 : 201, {{"signal", route.name},
                                          {"priority", heist::to_string(*priority)},
                                          {"unfinished_jobs", (*group)->jobs().size()}});
}

/// A name that is put takes memory until it is deleted.
Result<std::shared_ptr<SignalGroup>> Api::put_group(Client& client, std::string_view name,
                                                    heist::TaskPriority priority) {
  const NetworkReserve::Withheld only_what_is_left;
  return service_.put_group(client, name, priority);
}

Api::Handled Api::erase_signal(const Route& route, Client& client) {
  const auto aborted = service_.abort_group(client, route.name);
  if (!aborted) return not_found("this client has no such signal");
  return json_reply(200, {{"signal", route.name}, {"aborted_jobs", *aborted}});
}

}  // namespace heistd
