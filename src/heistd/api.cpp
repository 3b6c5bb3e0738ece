#include <algorithm>
#include <heistd/api_storing.hpp>
#include <heistd/job_request.hpp>
#include <heistd/job_text.hpp>
#include <heistd/json.hpp>
#include <heistd/limits.hpp>
#include <heistd/memory_reserve.hpp>
#include <heistd/network_reserve.hpp>
#include <heistd/page/page_files.hpp>
#include <heistd/stored_rest.hpp>
#include <heistd/stored_result.hpp>
#include <utility>

namespace heistd {
namespace {

Reply bytes_reply(const BytesResult& result) {
  Reply reply;
  reply.content_type = result.content_type;
  reply.body = {"", result.data};
  return reply;
}

/// Everybody may ask for it, and take long to read it, so it is not made of the reserve.
Reply page_reply(const PageFile& file) {
  const NetworkReserve::Withheld only_what_is_left;
  Reply reply;
  reply.content_type = file.content_type;
  reply.body = {std::string(file.text)};
  reply.headers.emplace_back("Content-Security-Policy", page_policy);
  reply.headers.emplace_back("Referrer-Policy", "no-referrer");
  return reply;
}

Reply value_reply(const JsonResult& result) {
  Reply reply;
  reply.body = result.text;
  reply.body.after += '\n';
  return reply;
}

Reply result_reply(const JobResult& result) {
  if (const auto* const bytes = std::get_if<BytesResult>(&result)) return bytes_reply(*bytes);
  return value_reply(std::get<JsonResult>(result));
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
  reply.body = {MemoryReserve::guard([&] { return undone_line(refusal, job); })};
  return reply;
}

/// Whoever watches over the server asks for these, without a token or a place; so does a browser
/// whose reader is yet to give the token.
bool is_for_all(Resource resource) noexcept {
  return resource == Resource::health || resource == Resource::ready || resource == Resource::page;
}

bool is_pause(Resource resource) noexcept {
  return resource == Resource::kind_pause || resource == Resource::kind_resume ||
         resource == Resource::signal_pause || resource == Resource::signal_resume;
}

/// For a GET only, as for all other methods ranges mean nothing.
RangeHeaders ranges_of(const RequestHead& head) {
  RangeHeaders headers;
  if (head.method == "GET") headers.range = head.range.value_or("");
  if (head.if_range) headers.if_range = std::string(*head.if_range);
  return headers;
}

/// Of many finished jobs.
bool is_sweep(const Route& route) noexcept {
  return route.resource == Resource::jobs_requeue ||
         (route.resource == Resource::jobs && route.method == Method::erase);
}

bool is_for_the_operator(Resource resource) noexcept {
  return resource == Resource::dump || resource == Resource::trace ||
         resource == Resource::metrics || resource == Resource::drain;
}

}  // namespace

Api::Routing Api::route(const RequestHead& head) const {
  auto found = find(head);
  if (!found) return make_reply(found.error());
  return std::move(*found);
}

Result<Api::Routing> Api::find(const RequestHead& head) const {
  auto target = parse_target(head.target);
  if (!target) return target.error();
  auto route = find_route(head.method, *target, kinds_);
  if (!route) return route.error();
  const bool is_bulk = route->resource == Resource::jobs && route->method == Method::post;
  if (route->resource != Resource::kind && !is_bulk && head.has_body()) {
    return Refusal{400, "unexpected_body", "a request like this has no body"};
  }
  if (!is_for_all(route->resource)) return Routing(Routed{std::move(*target), std::move(*route)});
  if (auto refusal = QueryReader(*target).finish()) return std::move(*refusal);
  auto reply = for_all(*route);
  if (!reply) return reply.error();
  return Routing(std::move(*reply));
}

Api::Step Api::begin(const RequestHead& head, const Routed& routed, Unchecked unchecked) {
  auto handled = handle(head, routed, unchecked);
  if (!handled) return make_reply(handled.error());
  return std::move(*handled);
}

Result<Api::Step> Api::handle(const RequestHead& head, const Routed& routed, Unchecked unchecked) {
  const auto& [target, route] = routed;
  const auto client = clients_.authenticate(head.authorization);
  if (!client) return client.error();
  if (head.place != nullptr && !head.place->begin(**client)) {
    return unavailable("too_many_connections", "too many requests are under way");
  }
  if (route.resource == Resource::kind) {
    return begin_upload(route, head, target, **client, unchecked);
  }
  if (is_for_the_operator(route.resource)) {
    return serve_operator(route, target, **client);
  }
  if (is_sweep(route)) return begin_sweep(route, target, **client);
  if (route.resource == Resource::jobs) {
    return route.method == Method::post ? begin_bulk(head, target, **client)
                                        : list(target, **client);
  }
  if (route.resource == Resource::events) return listen(head, target, **client);
  if (is_pause(route.resource)) return set_pause(route, target, **client);
  if (route.resource == Resource::job_requeue) return requeue(route, target, **client);
  if (route.resource == Resource::job && route.method == Method::put) {
    return put_job(route, target, **client);
  }
  if (service_.keeper() != nullptr && route.method != Method::get) {
    return store_change(route, target, **client);
  }
  if (route.method == Method::put) return as_step(put_signal(route, target, **client));
  if (route.resource == Resource::job && route.method == Method::get) {
    return show_job(route, target, **client);
  }
  if (auto refusal = QueryReader(target).finish()) return std::move(*refusal);
  if (route.resource == Resource::job_result) {
    return show_result(route, ranges_of(head), **client);
  }
  return as_step(handle_plain(route, **client));
}

/// A job of which the server has no Job waits for its turn; or only the journal has it, and it is
/// not waited for, as it has ended or will not be done here.
Result<Api::Step> Api::show_job(const Route& route, const Target& target, Client& client) {
  QueryReader query(target);
  const auto patience = query.patience("wait");
  if (auto refusal = query.finish()) return std::move(*refusal);
  auto job = service_.find(client, route.name);
  if (!job) {
    if (service_.keeper() == nullptr) return no_such_job();
    return Step(find_stored(route.name, client, [this, patience, &client](const StoredJob& stored) {
      return show_stored(stored, patience, client);
    }));
  }
  return std::visit([](auto outcome) { return Step(std::move(outcome)); },
                    show_job(std::move(job), patience, client));
}

Api::Outcome Api::show_job(std::shared_ptr<Job> job, const Patience& patience, Client& client) {
  if (job->finished() || !patience.any()) return job_reply(200, *job);
  auto share = client.take_wait();
  if (!share) return make_reply(share.error());
  return Waiting{&client, std::move(job), std::move(*share), patience, Waiting::For::description};
}

Api::Outcome Api::show_stored(const StoredJob& stored, const Patience& patience, Client& client) {
  const NetworkReserve::Withheld only_what_is_left;
  const bool has_value =
      stored.state == StoredState::done && !describes_bytes(stored.result_description);
  if (has_value && service_.keeper()->is_shared()) {
    return with_ended(stored, client, [](const std::shared_ptr<Job>& job) -> Outcome {
      return job_reply(200, *job);
    });
  }
  if (patience.any() && !is_end(stored.state)) {
    auto share = client.take_wait();
    if (!share) return make_reply(share.error());
    auto job = service_.bring(client, stored);
    if (job && job->finished()) return job_reply(200, *job);
    if (job) {
      return Waiting{&client, std::move(job), std::move(*share), patience,
                     Waiting::For::description};
    }
  }
  return summary_reply(200, summary_of(stored, client));
}

Storing Api::describe_stored(const JobId& id, Client& client) {
  return find_stored(id, client, [&client](const StoredJob& stored) -> Outcome {
    return summary_reply(200, summary_of(stored, client));
  });
}

Api::Handled Api::handle_plain(const Route& route, Client& client) {
  switch (route.resource) {
    case Resource::stats:
      return json_reply(200, stats_json(client));
    case Resource::kinds:
      return kinds_reply(client);
    case Resource::signals:
      return signals_reply(client);
    case Resource::job:
      return erase_job(route, client);
    default:
      return erase_signal(route, client);
  }
}

Result<Api::Step> Api::begin_upload(const Route& route, const RequestHead& head,
                                    const Target& target, Client& client, Unchecked unchecked) {
  const NetworkReserve::Withheld only_what_is_left;
  auto request = read_job_request(*kinds_.find(route.name), target, client);
  if (!request) return request.error();
  request->request_id = head.request_id;
  // A request that an agent has checked comes for the second time.
  if (unchecked == Unchecked::check) {
    if (auto refusal = client.take_request(Clock::now())) return std::move(*refusal);
  }
  auto ticket = take_job(client);
  if (!ticket) return ticket.error();
  if (auto step = judge_parameters(client, *request, unchecked)) return std::move(*step);
  // What its key stands for goes before that, which the journal knows.
  if (!head.idempotency_key) {
    if (auto step = judge_predecessor(client, request->after, unchecked)) return std::move(*step);
  }
  Upload upload(client, std::move(*request), std::move(*ticket), limits_.max_body,
                service_.disposal_for(client));
  if (service_.stores_uploads()) upload.note_stored();
  return announce(head, std::move(upload));
}

/// A place for one more job.
Result<Budget::Ticket> Api::take_job(const Client& client) const {
  if (service_.shutting_down()) return unavailable("shutting_down", "the server is shutting down");
  auto ticket = client.budget->take_job();
  if (ticket) return std::move(*ticket);
  return unavailable("queue_full", "this client has " + std::to_string(limits_.max_queued) +
                                       " unfinished jobs already");
}

/// What is known of an upload before it comes.
Result<Api::Step> Api::announce(const RequestHead& head, Upload upload) const {
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

Api::Outcome Api::finish(Upload upload) {
  if (upload.request().kind == nullptr) return finish_bulk(std::move(upload));
  if (service_.keeper() != nullptr) {
    auto stored = store(std::move(upload));
    return stored ? std::move(*stored) : make_reply(stored.error());
  }
  Client& client = upload.client();
  const auto wait = upload.request().wait;
  auto job = upload.submit(service_);
  if (!job) return make_reply(job.error());
  return accepted(client, std::move(*job), wait, upload.take_wait());
}

Api::Outcome Api::accepted(Client& client, std::shared_ptr<Job> job, const Patience& wait,
                           Quota::Share share) {
  if (wait.any()) return Waiting{&client, std::move(job), std::move(share), wait};
  return with_location(job_reply(202, *job), job->id);
}

Reply Api::waited(const Job& job) const {
  const auto& end = job.end();
  if (end.state == JobState::failed || end.state == JobState::dead) {
    return with_location(undone_reply(job, end.failure ? 422 : 503), job.id);
  }
  if (end.state == JobState::aborted) {
    // With a journal the next server goes on with jobs, so that somebody has asked for the abort.
    const bool by_end = service_.shutting_down() && service_.keeper() == nullptr;
    return with_location(undone_reply(job, by_end ? 503 : 409), job.id);
  }
  const auto* const bytes = std::get_if<BytesResult>(end.result.get());
  if (bytes == nullptr) return with_location(job_reply(200, job), job.id);
  auto reply = with_location(bytes_reply(*bytes), job.id);
  reply.headers.emplace_back("Heistd-Queue-Delay-Us", microseconds(end.times.queue_delay));
  reply.headers.emplace_back("Heistd-Run-Time-Us", microseconds(end.times.run));
  return reply;
}

Reply Api::waited(const Waiting& waiting) const {
  const auto& job = *waiting.job;
  if (waiting.reply == Waiting::For::description) return job_reply(200, job);
  return is_end(job.state()) && job.finished() ? waited(job)
                                               : with_location(job_reply(202, job), job.id);
}

/// Whoever waits for a while only has the job go on without it.
void Api::drop(const Waiting& waiting) {
  if (waiting.patience.most || waiting.reply == Waiting::For::description) return;
  service_.give_up(*waiting.client, *waiting.job, "the client that waited disconnected");
}

/// A server that drains is healthy, but takes no new jobs.
Api::Handled Api::for_all(const Route& route) const {
  if (route.resource == Resource::page) return page_reply(*find_page_file(route.name));
  if (!service_.shutting_down()) return json_reply(200, {{"status", "ok"}});
  if (route.resource == Resource::health) return json_reply(200, {{"status", "draining"}});
  return unavailable("shutting_down", "the server is shutting down");
}

Api::Handled Api::erase_job(const Route& route, Client& client) {
  const auto job = service_.find(client, route.name);
  if (!job) return no_such_job();
  if (!job->finished()) return abort_job(*job, client);
  forget(client, job->id);
  return job_reply(200, *job);
}

/// A job that has finished meanwhile stays.
Reply Api::abort_job(Job& job, Client& client) {
  service_.abort(client, job, job_deleted);
  return job_reply(200, job);
}

/// The journal is asked about a job that waits, and for a result that memory does not have.
Result<Api::Step> Api::show_result(const Route& route, const RangeHeaders& wanted, Client& client) {
  if (service_.keeper() == nullptr || service_.find(client, route.name)) {
    return as_step(job_result(route, wanted, client));
  }
  return Step(find_stored(route.name, client, [this, wanted](const StoredJob& stored) {
    return stored_result(stored, wanted);
  }));
}

Api::Handled Api::job_result(const Route& route, const RangeHeaders& wanted, Client& client) {
  const auto job = service_.find(client, route.name);
  if (!job) return no_such_job();
  if (!job->finished()) return Refusal{409, "not_finished", "the job has not finished yet"};
  if (!job->end().result) {
    return Refusal{409, "no_result", "the job is " + std::string(to_string(job->state()))};
  }
  return cut_to_part(result_reply(*job->end().result), wanted, job->id);
}

/// Of a result that is bytes, only the part that is wanted is read, and no more than a block of it
/// at a time. A JSON value is small, and its reply has more.
Api::Outcome Api::stored_result(const StoredJob& stored, const RangeHeaders& wanted) {
  if (!is_end(stored.state)) {
    return make_reply({409, "not_finished", "the job has not finished yet"});
  }
  if (stored.state != StoredState::done) {
    return make_reply({409, "no_result", "the job is " + std::string(to_string(state_of(stored)))});
  }
  const auto total = stored.result_bytes;
  auto part = find_part(wanted, stored.id, total);
  const bool is_of_bytes = describes_bytes(stored.result_description);
  if (!is_of_bytes) part = {200, {0, total}};
  if (part.status == 416) return with_part({}, part, stored.id, total);
  auto first = part.bytes;
  if (is_of_bytes) first.size = std::min<std::uint64_t>(first.size, block_bytes);
  auto answer = service_.keeper()->journal().read_result(stored.id, first);
  return storing(answer, [=, this](const std::string& bytes) -> Outcome {
    const NetworkReserve::Withheld only_what_is_left;
    if (bytes.size() != first.size) return make_reply(no_such_job());  // it was deleted
    auto reply = result_reply(from_stored(stored.result_description, bytes));
    if (!is_of_bytes) return cut_to_part(std::move(reply), wanted, stored.id);
    const ByteRange rest{first.offset + first.size, part.bytes.size - first.size};
    if (rest.size > 0) {
      reply.rest = std::make_shared<StoredRest>(*service_.keeper(), stored.id, rest);
    }
    return with_part(std::move(reply), part, stored.id, total);
  });
}

Api::Handled Api::put_signal(const Route& route, const Target& target, Client& client) {
  const auto priority = read_new_priority(target, client);
  if (!priority) return priority.error();
  const bool existed = client.signals.find(route.name) != nullptr;
  const auto group = put_group(client, route.name, *priority);
  if (!group) return group.error();
  return json_reply(existed ? 200 : 201, signal_json(route.name, **group));
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
