#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <heist/asio/async_wait.hpp>
#include <heistd/job_service.hpp>
#include <heistd/limits.hpp>
#include <new>
#include <utility>
#include <vector>

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

void count_run(LevelStats& level, const JobTimes& times) {
  level.queue_delay.add(times.queue_delay);
  level.longest_chunk = std::max(level.longest_chunk, times.longest);
  level.chunks += times.chunks;
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

void JobService::abort(Client& client, Job& job, std::string_view reason) {
  if (job.finished()) return;
  hear_of_first_start(client, job);
  job.unfinished->controller.abort();
  if (keeper_ != nullptr) {
    keeper_->abort(job.id, aborted_because(reason), end_followers_later(client, job.id));
  }
  finish_aborted(client, job, reason);
}

/// The job stops at once, also while the journal cannot have that, which is told again and again.
void JobService::give_up(Client& client, Job& job, std::string_view reason,
                         std::optional<JobFailure> why) {
  if (job.finished() || job.unfinished->is_given_up) return;
  hear_of_first_start(client, job);
  job.unfinished->controller.abort();
  if (keeper_ == nullptr) return finish_aborted(client, job, reason, std::move(why));
  const auto said = why ? StoredError{why->code(), why->what()} : aborted_because(reason);
  keeper_->abort(job.id, said,
                 [this, &client, id = job.id, reason, why](const std::optional<StoredJob>& stored) {
                   on_given_up(client, id, stored, reason, why);
                 });
  leave_agents(client, job);
}

/// What it holds up goes on. The end of its run says nothing any more, unless that is on its way to
/// the journal already.
void JobService::leave_agents(Client& client, Job& job) {
  auto& mine = *job.unfinished;
  mine.is_given_up = true;
  if (!std::exchange(mine.is_told, true)) ++mine.run;
  job.place_in_held.unlink();
  mine.held_run.reset();
  mine.held_start = nullptr;
  mine.asking.reset();
  mine.held.reset();
  mine.posted.reset();
  mine.run_place.reset();
  client.waiting.remove(job.id);
  post_waiting(client);
}

/// One that the journal has ended otherwise before is finished by the answer to what has ended it:
/// its result, its last failure, or a deletion.
///
/// Errors: std::bad_alloc, after which it may be called again.
void JobService::on_given_up(Client& client, const JobId& id,
                             const std::optional<StoredJob>& stored, std::string_view reason,
                             std::optional<JobFailure> why) {
  const bool is_aborted = !stored || stored->state == StoredState::aborted;
  const auto job = client.jobs.find(id);
  if (is_aborted && job && !job->finished()) {
    finish_aborted(client, *job, reason, std::move(why));
  } else {
    end_followers(client, id, stored && stored->state == StoredState::done);
    post_waiting(client);
  }
}

std::optional<std::size_t> JobService::abort_group(Client& client, std::string_view name) {
  const auto group = client.signals.find(name);
  if (!group) return std::nullopt;
  const auto jobs = group->unfinished();
  client.signals.erase(name);
  group->set_deleted();
  client.events.signal_deleted(name);
  abort_next_batch(client, group);
  return jobs;
}

void JobService::abort_next_batch(Client& client, const std::shared_ptr<SignalGroup>& group) {
  do {
    for (auto left = jobs_at_a_time; left > 0 && !group->jobs().empty(); --left) {
      abort(client, *group->jobs().front(), signal_deleted);
    }
    if (group->jobs().empty()) {
      const Dropping batch{client, group, count_answers()};
      if (drop_some(batch) == 0) return post_waiting(client);
      if (batch.unanswered && *batch.unanswered > 0) return;  // the last answer brings the next one
    }
    // Without memory for a later step, it is this one.
  } while (!do_later([this, &client, group] { abort_next_batch(client, group); }));
}

/// The rest follows in later steps; when there is no memory for one, as jobs of the group end.
void JobService::follow_next_batch(Client& client, const std::shared_ptr<SignalGroup>& group) {
  if (!group->follow_some() || group->is_following) return;
  group->is_following = do_later([this, &client, group] {
    group->is_following = false;
    follow_next_batch(client, group);
  });
}

void JobService::set_priority(Client& client, Job& job, heist::TaskPriority priority) {
  auto& mine = *job.unfinished;
  if (mine.asking || mine.held) {
    const auto to = JobLine::ahead_of(line_of(client, job, priority));
    if (priority != job.priority()) take_new_turn(client, job);
    if (mine.asking) mine.asking->move(to);
    if (mine.held) mine.held->move(to, mine.turn);
  }
  auto& before = job.progress->counts();
  const auto now = client.counts_of(priority);
  mine.controller.set_priority(priority);
  const auto place = now->add(mine.place_in_counts.has_value(), job.runnable_at);
  const bool started = job.progress->count_in(*now);
  before.remove(std::exchange(mine.place_in_counts, place), started);
  if (started) now->note_start();
  job.fixed_priority = priority;
  if (const auto kept = client.jobs.find(job.id)) starts_.move(kept);
  move_waiting(client, job.id, priority);
  client.events.job_changed(job);
}

Result<std::shared_ptr<SignalGroup>> JobService::put_group(Client& client, std::string_view name,
                                                           heist::TaskPriority priority) {
  const auto group = client.signals.find_or_make(name, priority);
  if (!group) return too_many_signals();
  group->was_put = true;
  move_group(client, name, group, priority);
  return group;
}

void JobService::move_group(Client& client, std::string_view name,
                            const std::shared_ptr<SignalGroup>& group,
                            heist::TaskPriority priority) {
  group->set_priority(priority);
  client.events.signal_changed(name, *group);
  follow_next_batch(client, group);
  starts_.start_some();
  post_waiting(client);
}

std::size_t JobService::abort_some(const ClientTable& clients, std::string_view reason) {
  std::size_t aborted = 0;
  aborts_all_ = keeper_ == nullptr;
  for (const auto& client : clients.all()) {
    const auto& jobs = client->jobs.unfinished();
    for (; aborted < jobs_at_a_time && !jobs.empty(); ++aborted) {
      const auto job = jobs.front();
      if (keeper_ != nullptr) {
        put_off(*client, *job);
      } else {
        abort(*client, *job, reason);
      }
    }
  }
  return aborted;
}

/// A rejection is an abort, and whoever has asked for that ends the job; or a close of the agents,
/// and whoever closes them aborts what is left; or there was no memory to start the job.
void JobService::on_end(Client& client, const JobId& id, std::uint64_t run,
                        const std::exception_ptr& error, JobEnd end) {
  const auto job = find(client, id);
  if (job && !job->finished()) hear_of_first_start(client, *job);
  if (end.times.chunks > 0) {
    count_run(client.stats_of(end.times.started_at), end.times);
    client.events.job_waited(end.times.started_at, end.times.queue_delay);
  }
  if (!job) return;
  if (job->group) follow_next_batch(client, job->group);
  if (job->finished() || job->unfinished->is_told) return;
  if (is_shared() && job->unfinished->run != run) return;  // it was left to others meanwhile
  if (auto* const held = std::get_if<HeldBack>(&end.outcome)) {
    return hold(client, *job, std::move(held->run));
  }
  if (job->unfinished->is_held_back) return hold(client, *job, nullptr);
  if (keeper_ != nullptr && !job->unfinished->begun) {
    return start_later(client, *job, backoff_(1));
  }
  if (error && shutting_down()) return;
  if (error) end.outcome = OutOfMemory();
  if (job->unfinished->begun && !std::holds_alternative<std::monostate>(end.outcome)) {
    job->unfinished->is_told = true;
    tell_end(client, *job, std::move(end));
  } else {
    end_job(client, *job, std::move(end));
  }
}

/// The figures of the priority at which the job's last attempt has started, if one has.
LevelStats& JobService::level_of_end(Client& client, const Job& job) {
  const bool has_started = job.progress->queue_delay().has_value();
  return client.stats_of(has_started ? job.progress->started_at() : job.priority());
}

void JobService::end_job(Client& client, Job& job, JobEnd end) {
  auto& level = level_of_end(client, job);
  if (auto* result = std::get_if<std::shared_ptr<const JobResult>>(&end.outcome)) {
    ++level.done;
    level.run_time.add(end.times.run);
    finish(client, job, {JobState::done, end.times, std::move(*result)});
  } else if (auto* failure = std::get_if<JobFailure>(&end.outcome)) {
    ++level.failed;
    finish(client, job, {JobState::failed, end.times, nullptr, std::move(*failure)});
  } else if (std::holds_alternative<OutOfMemory>(end.outcome)) {
    ++level.failed;
    finish(client, job, {JobState::failed, end.times});
  } else {
    finish_aborted(client, job, "the server is shutting down");
  }
}

void JobService::finish_aborted(Client& client, Job& job, std::string_view reason,
                                std::optional<JobFailure> why) {
  ++client.stats_of(job.priority()).aborted;
  JobTimes times;
  times.queue_delay = job.progress->queue_delay().value_or(std::chrono::nanoseconds{});
  finish(client, job, {JobState::aborted, times, nullptr, std::move(why), reason});
}

void JobService::finish(Client& client, Job& job, Job::End end) {
  if (is_end(end.state) && end.state != JobState::aborted) ++finished_;
  if (end.state == JobState::dead) ++level_of_end(client, job).dead;
  client.waiting.remove(job.id);
  disposal_for(client).free(std::move(job.unfinished->upload));
  leave(client, job);
  client.jobs.finish(job, std::move(end));
  const bool was_watched = watched_.erase(job.id) > 0;  // its end is told where it ran
  if (is_end(job.state()) && !was_watched) log_.job_ended(client, job);
  client.events.job_changed(job);
  if (is_end(job.end().state)) end_followers(client, job.id, job.state() == JobState::done);
  if (is_shared()) {  // others may queue it again, or forget it
    client.jobs.drop(job);
    tell_claimable();
  }
  post_waiting(client);
}

}  // namespace heistd
