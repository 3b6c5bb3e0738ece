// What JobService does when a journal keeps the jobs.
#include <algorithm>
#include <heistd/job_service.hpp>
#include <heistd/limits.hpp>
#include <new>
#include <utility>

namespace heistd {

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
