// What JobService does when a journal keeps the jobs.
#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <heist/asio/async_wait.hpp>
#include <heistd/job_service.hpp>
#include <heistd/job_summary.hpp>
#include <heistd/limits.hpp>
#include <new>
#include <utility>

namespace heistd {

namespace asio = boost::asio;

std::shared_ptr<Job> JobService::restore_finished(Client& client, const Kind& kind,
                                                  const StoredJob& stored,
                                                  std::shared_ptr<const JobResult> result) {
  auto job = std::make_shared<Job>(stored.id, kind, stored.payload_bytes);
  job->signal_name = stored.signal_name;
  job->after = stored.after;
  job->request_id = stored.request_id;
  job->fixed_priority = priority_of(stored, client);
  job->progress = std::make_shared<JobProgress>(client.counts_of(*job->fixed_priority));
  job->note_attempts(stored);
  client.jobs.add(job);
  client.jobs.finish(*job, end_of(stored, std::move(result)));
  if (is_shared()) client.jobs.drop(*job);
  return job;
}

Job::End JobService::end_of(const StoredJob& stored, std::shared_ptr<const JobResult> result) {
  Job::End end{JobState::done, {}, std::move(result)};
  if (stored.state == StoredState::failed || stored.state == StoredState::dead) {
    end.state = stored.state == StoredState::dead ? JobState::dead : JobState::failed;
    end.failure.emplace(stored.error->code, stored.error->message);
  } else if (stored.state == StoredState::aborted) {
    end.state = JobState::aborted;
    end.abort_reason = "the job was aborted before the server was started again";
    if (stored.error) end.failure.emplace(stored.error->code, stored.error->message);
  }
  return end;
}

Result<Budget::Ticket> JobService::take_room(Client& client, const JobRequest& request,
                                             std::size_t bytes) const {
  if (auto refusal = refuse_signal(client, request.signal_name)) return std::move(*refusal);
  auto ticket = client.budget->take_job();
  if (!ticket || !ticket->grow(bytes)) {
    return unavailable("queue_full", "this client has too many unfinished jobs already");
  }
  if (stores_uploads() && !ticket->store(bytes)) return too_many_stored();
  if (auto refusal = reserve(request, bytes, *ticket)) return std::move(*refusal);
  return std::move(*ticket);
}

Refusal JobService::too_many_stored() {
  return unavailable("queue_full",
                     "the uploads of this client's unfinished jobs take too much of the disk");
}

bool JobService::has_room_for_any(const Client& client) const {
  if (shutting_down()) return false;
  auto ticket = client.budget->take_job();
  return ticket && ticket->grow(job_bytes);
}

/// All that a requeue takes is made before the journal is asked.
JobJournal::Answer<JobJournal::Effect> JobService::requeue(Client& client, const Kind& kind,
                                                           const StoredJob& dead,
                                                           Budget::Ticket room) {
  RequeuedJobs job;
  job.push_back({client, kind, queued_anew(dead), std::move(room), {}});
  const auto answer = job.front().answer.emplace(keeper_->journal().requeue(dead.id));
  unheard_.splice(unheard_.end(), job);
  restore_requeued();
  return answer;
}

/// Without memory for that the job stays where it is.
void JobService::hear_of_requeue(RequeuedJobs::iterator job) noexcept {
  try {
    keeper_->when(*job->answer, [this, job](const JournalResult<JobJournal::Effect>& effect) {
      on_requeue(job, effect);
    });
    requeuing_.splice(requeuing_.end(), unheard_, job);
  } catch (const std::bad_alloc&) {
    return;
  }
}

void JobService::on_requeue(RequeuedJobs::iterator job,
                            const JournalResult<JobJournal::Effect>& effect) noexcept {
  if (!effect || *effect != JobJournal::Effect::stored) {
    requeuing_.erase(job);
    return;
  }
  Client& client = job->client;
  try {
    client.events.job_changed(summary_of(job->job, client));
  } catch (const std::bad_alloc&) {
    client.events.missed();
  }
  if (is_shared()) {
    requeuing_.erase(job);
    return tell_claimable();
  }
  requeued_.splice(requeued_.end(), requeuing_, job);
  post_waiting(client);
}

void JobService::restore_requeued() noexcept {
  for (auto next = unheard_.begin(); next != unheard_.end();) hear_of_requeue(next++);
  std::erase_if(requeued_, [this](const auto& requeued) { return restore(requeued); });
  const auto& left = unheard_.empty() ? requeued_ : unheard_;
  if (!left.empty()) wake_soon(left.front().client);
}

/// False when there is no memory for that now.
bool JobService::restore(const Requeued& requeued) noexcept {
  const auto& [client, kind, stored, room, answer] = requeued;
  try {
    if (const auto known = client.jobs.find(stored.id)) {
      if (!known->finished()) return true;  // it has died again, and is about to hear of that
      client.jobs.drop(*known);
    }
    if (!shutting_down()) restore(client, kind, stored);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

/// What it takes to let a job pass its gate.
struct JobService::Opening {
  Opening(const Job& job, Parameters its_parameters, heist::Resolver<std::unique_ptr<JobWork>> work)
      : id(job.id),
        run(job.unfinished->run),
        parameters(std::move(its_parameters)),
        opener(std::move(work)) {}

  const JobId id;
  const std::uint64_t run;
  Parameters parameters;
  GateOpener opener;
  /// Given back when the agent says so, and at the latest when nobody has this any more.
  const std::shared_ptr<StartQueue::Place> place = std::make_shared<StartQueue::Place>();
};

/// The agent asks, and the journal answers when the job's turn has come, by way of the network.
void JobService::put_gate(Client& client, Job& job, const Parameters& parameters, JobStart& start) {
  enter_asking(client, job);
  auto asked = heist::Promise<void>::with_resolver();
  auto work = heist::Promise<std::unique_ptr<JobWork>>::with_resolver();
  auto leave = heist::Promise<void>::with_resolver();
  const auto opening = std::make_shared<Opening>(job, parameters, std::move(work.resolver));
  heist::async_wait(
      leave.promise,
      asio::bind_executor(network_, [place = opening->place](const std::exception_ptr& /*none*/) {
        place->reset();
      }));
  heist::async_wait(
      asked.promise,
      asio::bind_executor(network_, [this, &client, opening](const std::exception_ptr& dropped) {
        if (!dropped) ask_to_run(client, opening);
      }));
  start.gate = {std::move(asked.resolver), std::move(work.promise)};
  start.place = {std::move(leave.resolver), job.kind.at_a_time > 0};
}

/// Null when the job has ended, or the run that asked is over as it had no memory.
std::shared_ptr<Job> JobService::waiting_for(Client& client, const Opening& opening) {
  auto job = client.jobs.find(opening.id);
  const bool waits = job && !job->finished() && job->unfinished->run == opening.run;
  return waits ? std::move(job) : nullptr;
}

/// The job has come to its start. Others that a pause has held back may have been before it, and
/// are behind it now (JRN-5). Suspects wait for no others, and neither does anything as the server
/// ends, as what is held is left to the next one; and who claims jobs of a shared queue gives back
/// those that are held.
bool JobService::must_be_held_too(const Client& client, const Job& job) const noexcept {
  const auto& mine = *job.unfinished;
  if (!mine.asking || keeper_ == nullptr || is_shared() || shutting_down()) return false;
  return Turns::is_ahead_of_held(client, job, mine.posted_at);
}

/// The job takes a place among those of its client that run, and then one among those that start.
/// If it has to wait for the first one, others of its priority need not.
void JobService::ask_to_run(Client& client, const std::shared_ptr<Opening>& opening) {
  const auto job = waiting_for(client, *opening);
  if (!job) return;
  if (job->unfinished->asking) job->unfinished->asking->note_asked();
  const auto start = [this, &client, opening] {
    const auto asking = waiting_for(client, *opening);
    if (!asking) return;
    starts_.ask(asking, [this, &client, opening](StartQueue::Place place) {
      open(client, opening, std::move(place));
    });
  };
  if (client.run_places.ask(job, start)) return;
  job->unfinished->posted.reset();
  post_waiting(client);
}

void JobService::open(Client& client, const std::shared_ptr<Opening>& opening,
                      StartQueue::Place place) {
  const auto asking = waiting_for(client, *opening);
  if (!asking) return;
  if (asking->is_paused() || must_be_held_too(client, *asking)) {
    // Its run ends as the opening goes, and then it is held. Without a journal nobody else knows
    // what it takes to run it.
    if (keeper_ == nullptr) return hold_at_gate(client, *asking, opening);
    return hold_at_start(*asking);
  }
  asking->unfinished->held.reset();
  if (keeper_ == nullptr) {
    begin_attempt(*asking, {first_attempt, std::move(asking->unfinished->upload)}, *opening,
                  std::move(place));
    return post_waiting(client);
  }
  const auto priority = std::min(asking->priority(), asking->ceiling);
  keeper_->open(
      {opening->id, priority, asking->bytes},
      [this, &client, opening, place = std::move(place),
       being_started = starts_.being_started(priority)](std::optional<OpenedJob> opened) mutable {
        if (!opened) return;
        if (const auto job = waiting_for(client, *opening)) {
          begin_attempt(*job, std::move(*opened), *opening, std::move(place));
          post_waiting(client);
        } else {  // when it was aborted, the journal knows that, and this comes late
          keeper_->release(opening->id, opened->attempt);
        }
      });
}

/// The run stays where it is, and asks once more when the pause is over.
void JobService::hold_at_gate(Client& client, Job& job, const std::shared_ptr<Opening>& opening) {
  job.unfinished->held_start = [this, &client, opening] { ask_to_run(client, opening); };
  put_in_held(client, job);
}

void JobService::begin_attempt(Job& job, OpenedJob opened, Opening& opening,
                               StartQueue::Place place) {
  job.unfinished->asking.reset();
  if (keeper_ != nullptr) {  // which counts attempts
    job.attempts.latest = opened.attempt;
    job.unfinished->begun = true;
  }
  job.unfinished->posted.reset();
  if (StartQueue::is_suspect(job)) job.unfinished->suspect_place = place;
  *opening.place = std::move(place);
  auto& work = opening.opener.work;
  try {
    work.resolve(job.kind.make_work({job.kind, std::move(opened.payload), opening.parameters,
                                     job.unfinished->controller.signal(), job.progress, job.id,
                                     opened.attempt}));
  } catch (const std::bad_alloc&) {
    work.reject(heist::Reason::of(std::current_exception()));
  }
}

/// Who waits for the job, or asks for it, hears of its end when the journal has it. If the journal
/// was told before that the job is deleted, that is its end.
void JobService::tell_end(Client& client, const Job& job, JobEnd end) {
  const auto* const failure = std::get_if<JobFailure>(&end.outcome);
  if (failure != nullptr && failure->is_transient()) {
    return tell_retry(client, job, *failure, end.times);
  }
  const auto kept = std::make_shared<JobEnd>(std::move(end));
  keeper_->end(
      job.id, job.attempts.latest, kept->outcome,
      [this, &client, id = job.id, run = job.unfinished->run, kept](JobJournal::Effect effect) {
        const auto ended = find_run(client, id, run);
        if (!ended) return;
        if (effect == JobJournal::Effect::stored) {
          end_job(client, *ended, std::move(*kept));
        } else if (is_shared()) {
          lose_attempt(client, id, ended->attempts.latest);
        } else {
          finish_aborted(client, *ended, job_deleted);
        }
      });
}

/// The journal decides whether another attempt is left. For a dead job it may have no room.
void JobService::tell_retry(Client& client, const Job& job, const JobFailure& why,
                            const JobTimes& times) {
  keeper_->retry(job.id, job.attempts.latest, why, backoff_(job.attempts.counted()),
                 [this, &client, id = job.id, run = job.unfinished->run, why, times](
                     const std::optional<StoredJob>& stored, JobJournal::Effect effect) {
                   const auto failed = find_run(client, id, run);
                   if (!failed) return;
                   const auto& attempts = failed->attempts;
                   auto& level = level_of_end(client, *failed);
                   const bool is_dead = stored ? stored->state == StoredState::dead
                                               : effect == JobJournal::Effect::stored &&
                                                     attempts.counted() >= attempts.most;
                   if (is_shared() && !is_dead) {
                     hear_of(client, *failed, stored);
                     if (effect == JobJournal::Effect::stored) ++level.retried;
                   } else if (is_dead) {
                     finish(client, *failed, {JobState::dead, times, nullptr, why});
                   } else if (failed->unfinished->is_given_up) {
                     return;  // its abort is on its way to the journal
                   } else if (stored && stored->state == StoredState::queued) {
                     try_again(client, *failed, *stored);
                     ++level.retried;
                   } else {
                     finish_aborted(client, *failed, job_deleted);
                   }
                 });
}

/// What a call that failed may have posted does not run.   Errors: std::bad_alloc.
void JobService::renew_controller(Job& job) {
  const heist::TaskController fresh(job.priority());
  job.unfinished->controller.abort();
  job.unfinished->controller = fresh;
  ++job.unfinished->run;
}

/// When the server ends meanwhile, the next one does it.   Errors: std::bad_alloc, after which it
/// may be called again.
void JobService::try_again(Client& client, Job& job, const StoredJob& stored) {
  auto& mine = *job.unfinished;
  mine.begun = false;
  mine.is_told = false;
  mine.posted.reset();
  mine.run_place.reset();
  mine.suspect_place.reset();
  job.note_attempts(stored);
  if (shutting_down()) return;
  const auto request = request_of(stored, job.kind);
  if (!request.ttl) job.expires_at.reset();
  auto ticket = client.budget->take_accepted(job.bytes + needed_bytes(request, job.bytes));
  renew_controller(job);
  count_anew(job, Clock::now() + request.delay);
  if (request.delay.count() > 0) mine.held.reset();  // others need not wait for that
  try {
    post(client, job, request, {}, std::move(ticket));
    note_posted_anew(client, job);
    client.events.job_changed(job);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {  // by the agents, which are closed
    return;
  }
}

/// Of a job whose run has ended before the journal had counted its start, or the server heard of
/// that. When the server ends meanwhile, the next one does it. A claim goes back.
void JobService::start_later(Client& client, Job& job, std::chrono::milliseconds pause) {
  ++job.unfinished->run;
  job.unfinished->run_place.reset();
  if (shutting_down()) return;
  if (is_shared()) {
    keeper_->release(job.id, job.attempts.latest);
    return leave_to_others(client, job);
  }
  keeper_->reread(
      job.id, [this, &client, id = job.id, pause](const std::optional<StoredJob>& stored) {
        const auto waits = client.jobs.find(id);
        const bool goes_on = waits && !waits->finished() && !waits->unfinished->is_given_up;
        if (goes_on) start_anew(client, *waits, stored, pause);
      });
}

/// There was no memory for the start, or the job was held, unless it was aborted in the journal.
void JobService::start_anew(Client& client, Job& job, const std::optional<StoredJob>& stored,
                            std::chrono::milliseconds pause) {
  if (stored && stored->state == StoredState::queued) {
    auto later = *stored;
    later.delay = std::max(later.delay, pause);
    try_again(client, job, later);
  } else if (stored && stored->state == StoredState::running) {
    job.attempts.latest = stored->attempt;
    job.unfinished->is_told = true;
    const auto why = out_of_memory();
    tell_retry(client, job, JobFailure(why.code, why.message), {});
  } else {
    finish_aborted(client, job, job_deleted);
  }
}

/// At the server's end the journal keeps the job for the next start: it has not ended, and only the
/// journal knows of it from here on.
void JobService::put_off(Client& client, Job& job) {
  job.unfinished->controller.abort();
  hear_of_first_start(client, job);
  if (job.unfinished->begun) {
    keeper_->release(job.id, job.attempts.latest);
    ++job.attempts.forgiven;
  }
  const bool is_early = Clock::now() < job.runnable_at;
  finish(client, job, {is_early ? JobState::delayed : JobState::queued, {}});
  if (!is_shared()) client.jobs.drop(job);
}

}  // namespace heistd
