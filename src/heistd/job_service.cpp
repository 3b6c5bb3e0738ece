#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <heist/asio/async_wait.hpp>
#include <heistd/job_service.hpp>
#include <heistd/limits.hpp>
#include <new>
#include <utility>

namespace heistd {
namespace {

namespace asio = boost::asio;

Refusal shutting_down_refusal() {
  return unavailable("shutting_down", "the server is shutting down");
}

Refusal too_many_signals() {
  return unavailable("too_many_signals",
                     "this client has " + std::to_string(max_signals) + " signal names already");
}

/// Nothing when there was no memory to find out.
std::optional<Verdict> try_to_judge(const Kind& kind, const Parameters& parameters) {
  try {
    return judge(kind, parameters);
  } catch (const std::bad_alloc&) {  // then the job finds out
    return std::nullopt;
  }
}

/// Without memory it is as if nothing had been checked.
void remember(Client& client, const std::string& about, std::optional<Verdict> verdict) {
  try {
    if (verdict) client.verdicts.add(about, *std::move(verdict));
  } catch (const std::bad_alloc&) {
    return;
  }
}

}  // namespace

Result<heist::Promise<void>> JobService::check_parameters(Client& client,
                                                          const JobRequest& request) {
  const auto& kind = *request.kind;
  auto ticket = client.budget->take_memory(check_bytes(kind));
  if (!ticket)
    return unavailable("queue_full", "this client's unfinished jobs take too much memory");
  auto verdict =
      scheduler_.post_task([&kind, parameters = request.parameters,
                            ticket = std::move(*ticket)] { return try_to_judge(kind, parameters); },
                           {.priority = client.ceiling, .label = "check parameters"});
  if (verdict.reason()) return shutting_down_refusal();
  auto known = heist::Promise<void>::with_resolver();
  heist::async_wait(verdict, asio::bind_executor(
                                 network_, [&client, about = checked_text(kind, request.parameters),
                                            resolver = std::move(known.resolver)](
                                               const std::exception_ptr& /*error*/,
                                               std::optional<Verdict> judged) mutable {
                                   remember(client, about, std::move(judged));
                                   resolver.resolve();
                                 }));
  return known.promise;
}

Result<heist::Promise<void>> JobService::read_bulk(const Client& client,
                                                   const std::shared_ptr<BulkReader>& reader) {
  const auto read =
      scheduler_.post_task([reader] { return reader->run(); },
                           {.priority = client.ceiling, .label = "read a bulk request"});
  if (read.reason()) return shutting_down_refusal();
  auto told = heist::Promise<void>::with_resolver();
  heist::async_wait(
      read, asio::bind_executor(network_, [resolver = std::move(told.resolver)](
                                              const std::exception_ptr& /*closed*/) mutable {
        resolver.resolve();
      }));
  return told.promise;
}

Result<std::shared_ptr<Job>> JobService::submit(Client& client, const JobRequest& request,
                                                Blocks body, Budget::Ticket ticket) {
  if (auto refusal = reserve(request, byte_count(body), ticket)) return std::move(*refusal);
  return submit_reserved(client, request, std::move(body), std::move(ticket));
}

Result<std::shared_ptr<Job>> JobService::submit_reserved(Client& client, const JobRequest& request,
                                                         Blocks body, Budget::Ticket ticket) {
  if (!request.after.empty()) {
    return submit_follower(client, request, std::move(body), std::move(ticket));
  }
  return submit_judged(client, request, std::move(body), std::move(ticket));
}

Result<std::shared_ptr<Job>> JobService::submit_judged(Client& client, const JobRequest& request,
                                                       Blocks body, Budget::Ticket ticket) {
  const auto bytes = byte_count(body);
  if (by_turns_ || request.follows)
    return submit_by_turns(client, request, std::move(body), std::move(ticket));
  return begin(client, request, make_job_id(), bytes, std::move(body), std::move(ticket));
}

std::optional<Refusal> JobService::reserve(const JobRequest& request, std::size_t bytes,
                                           Budget::Ticket& ticket) const {
  if (shutting_down()) return shutting_down_refusal();
  if (ticket.grow(needed_bytes(request, bytes))) return std::nullopt;
  return unavailable("queue_full", "this client's unfinished jobs take too much memory");
}

std::optional<Refusal> JobService::refuse_signal(const Client& client, std::string_view name) {
  if (name.empty() || client.signals.has_room_for(name)) return std::nullopt;
  return too_many_signals();
}

std::size_t JobService::needed_bytes(const JobRequest& request, std::size_t bytes) {
  return job_bytes + held_bytes(request.parameters) + request.kind->working_bytes(bytes);
}

/// With a keeper the body comes from the journal, when the job starts.
Result<std::shared_ptr<Job>> JobService::begin(Client& client, const JobRequest& request, JobId id,
                                               std::size_t bytes, Blocks body,
                                               Budget::Ticket ticket,
                                               std::optional<Clock::time_point> runnable_at,
                                               std::shared_ptr<AtOnce> at_once) {
  auto made = make_job(client, request, std::move(id), bytes);
  if (!made) return made;
  auto& job = **made;
  if (runnable_at) job.runnable_at = *runnable_at;
  if (keeper_ == nullptr) job.order = client.jobs.next_order();
  try {
    enter(client, *made, request.delay.count() > 0);
    post(client, job, request, std::move(body), std::move(ticket), std::move(at_once));
    client.events.job_changed(job);
    return made;
  } catch (const std::bad_alloc&) {
    take_back(client, job);
    return out_of_memory();
  } catch (const std::exception&) {  // by the agents, which are closed
    take_back(client, job);
    return shutting_down_refusal();
  }
}

Result<std::shared_ptr<Job>> JobService::make_job(Client& client, const JobRequest& request,
                                                  JobId id, std::size_t bytes) {
  auto job = std::make_shared<Job>(std::move(id), *request.kind, bytes);
  job->fixed_priority = request.priority;
  job->runnable_at = Clock::now() + request.delay;
  if (request.ttl) job->expires_at = Clock::now() + *request.ttl;
  job->timeout = request.timeout;
  job->after = request.after;
  job->request_id = request.request_id;
  job->kind_pause = client.kind_pauses.of(*request.kind);
  job->attempts.most = request.max_attempts;
  if (request.signal_name.empty()) {
    if (!job->fixed_priority) job->fixed_priority = client.default_priority();
  } else {
    job->signal_name = request.signal_name;
    job->group = client.signals.find_or_make(request.signal_name, client.default_priority());
    if (!job->group) return too_many_signals();
  }
  job->progress = std::make_shared<JobProgress>(
      job->fixed_priority ? client.counts_of(*job->fixed_priority) : job->group->counts);
  job->progress->note_changes_in(client.events.changed, job);
  job->unfinished = std::make_unique<Job::Unfinished>(job->priority());
  return job;
}

/// Makes the job one of the client's unfinished ones; leave() undoes as much of that as was done.
void JobService::enter(Client& client, const std::shared_ptr<Job>& job, bool has_delay) {
  client.jobs.add(job);
  count_in(*job, has_delay);
  if (job->group) job->unfinished->place_in_group = job->group->add(*job);
}

void JobService::count_in(Job& job, bool has_delay) {
  auto& mine = *job.unfinished;
  mine.place_in_counts = job.progress->counts().add(has_delay, job.runnable_at);
  mine.counted = true;
}

void JobService::count_out(Job& job) {
  auto& mine = *job.unfinished;
  const bool started = job.progress->end();
  if (std::exchange(mine.counted, false)) {
    job.progress->counts().remove(mine.place_in_counts, started);
  }
}

/// As it begins to wait anew.   Errors: std::bad_alloc, after which it may be called again.
void JobService::count_anew(Job& job, Clock::time_point runnable_at) {
  count_out(job);
  job.progress->wait_again();
  job.runnable_at = runnable_at;
  count_in(job, runnable_at > Clock::now());
}

void JobService::leave(Client& client, Job& job) {
  auto& mine = *job.unfinished;
  count_out(job);
  if (mine.place_in_group) job.group->remove(*mine.place_in_group);
  job.place_in_held.unlink();
  leave_at_once(client, job);
  mine.asking.reset();
  mine.stored.reset();
  if (job.group) client.signals.drop_unused(job.signal_name, *job.group);
}

/// The job, which an agent may have begun, is as if it had never been there.
void JobService::take_back(Client& client, Job& job) {
  hear_of_first_start(client, job);
  leave(client, job);
  client.jobs.forget(job);
  job.unfinished->controller.abort();
}

/// Errors: std::bad_alloc; others when the agents take no more jobs.
void JobService::post(Client& client, Job& job, const JobRequest& request, Blocks body,
                      Budget::Ticket ticket, std::shared_ptr<AtOnce> at_once) {
  auto& mine = *job.unfinished;
  if (job.expires_at) set_timer(client, job, *job.expires_at, &JobService::expire_posted);
  mine.posted_at = std::max(Clock::now(), job.runnable_at);
  if (!mine.held) mine.turn = mine.posted_at;
  const auto signal = mine.controller.signal();
  JobStart start{job.kind.label, nullptr,        std::move(ticket),  signal,
                 job.group,      request.delay,  job.runnable_at,    job.progress,
                 runnable_,      job.kind_pause, client.start_delays};
  if (at_once) {
    start_at_once(client, job, std::move(at_once), request.parameters, start);
  } else if (keeper_ != nullptr || by_turns_ || mine.posted) {
    mine.upload = std::move(body);
    put_gate(client, job, request.parameters, start);
  } else {
    start.work = job.kind.make_work(
        {job.kind, std::move(body), request.parameters, signal, job.progress, job.id, 1});
  }
  if (job.timeout) start.started = start_notice(client, job);
  // Requests ask for no more than that, either: this is where it holds whatever they ask for
  // (SEC-1).
  job.ceiling = client.ceiling;
  const auto run =
      std::make_shared<JobRun>(std::move(start), scheduler_.with_ceiling(client.ceiling));
  follow(client, job, run->post_first());
}

/// Errors: as post().
void JobService::follow(Client& client, const Job& job, const heist::Promise<JobEnd>& end) {
  if (const auto reason = end.reason()) reason.rethrow();
  heist::async_wait(
      end, asio::bind_executor(network_, [this, &client, id = job.id, run = job.unfinished->run](
                                             const std::exception_ptr& error, JobEnd last_word) {
        on_end(client, id, run, error, std::move(last_word));
      }));
}

BlockDisposal JobService::disposal_for(const Client& client) const {
  return BlockDisposal(scheduler_.with_ceiling(client.ceiling));
}

std::shared_ptr<Job> JobService::find(Client& client, const JobId& id) {
  auto job = client.jobs.find(id);
  // Its batch's turn may still come.
  if (job && job->group && job->group->deleted()) abort(client, *job, signal_deleted);
  return job;
}

}  // namespace heistd
