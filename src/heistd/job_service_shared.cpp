// Jobs of a queue that servers share: which of them run here, and which are waited for here.
#include <algorithm>
#include <heistd/job_service.hpp>
#include <heistd/limits.hpp>
#include <heistd/stored_result.hpp>
#include <new>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace heistd {

/// The database has the job, and whoever claims it runs it.
Result<std::shared_ptr<Job>> JobService::submit_shared(Client& client, const JobRequest& request,
                                                       const JobId& id, std::size_t bytes) {
  tell_claimable();
  if (!request.wait.any()) return nullptr;
  try {
    auto job = watch(client, request, id, bytes);
    if (job) client.events.job_changed(*job);
    return job;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

/// Null when the client's memory, or its signal names, are used up.   Errors: std::bad_alloc.
std::shared_ptr<Job> JobService::watch(Client& client, const JobRequest& request, const JobId& id,
                                       std::size_t bytes) {
  auto memory = client.budget->take_memory(job_bytes);
  if (!memory) return nullptr;
  const auto made = make_job(client, request, id, bytes);
  if (!made) return nullptr;
  const auto& job = *made;
  if (request.follows) job->runnable_at = Clock::time_point::max();
  job->unfinished->memory = std::move(memory);
  try {
    enter(client, job, job->runnable_at > Clock::now());
    watched_.insert_or_assign(id, &client);
  } catch (...) {
    take_back(client, *job);
    throw;
  }
  return job;
}

/// Null, too, when this server does not have the kind.   Errors: std::bad_alloc.
std::shared_ptr<Job> JobService::watch(Client& client, const StoredJob& stored) {
  const auto* const kind = kinds_->find(stored.kind);
  if (kind == nullptr) return nullptr;
  auto request = request_of(stored, *kind);
  request.follows = stored.follows;
  auto job = watch(client, request, stored.id, static_cast<std::size_t>(stored.payload_bytes));
  if (job) note_attempts(client, *job, stored);
  return job;
}

std::vector<JobId> JobService::watched() const {
  std::vector<JobId> ids;
  ids.reserve(watched_.size());
  for (const auto& [id, client] : watched_) ids.push_back(id);
  return ids;
}

Client* JobService::client_of(const ClientTable& clients, const JobId& id) {
  const auto found = std::ranges::find_if(clients.all(), [&id](const auto& client) {
    return client->jobs.find(id) || client->waiting.find(id) != nullptr;
  });
  return found == clients.all().end() ? nullptr : found->get();
}

/// One that has ended here is held until the journal has that.
bool JobService::keeps_claim(Client& client, const JobId& id) const {
  if (const auto* const waiting = client.waiting.find(id)) return !waiting->line->is_paused();
  const auto job = client.jobs.find(id);
  if (!job || watched_.contains(id)) return false;
  return job->finished() || job->unfinished->begun || !job->is_paused();
}

/// A job that is here already is waited for, or an attempt of it has just ended.
void JobService::take_claimed(Client& client, const Kind& kind, const StoredJob& stored) {
  auto claimed = stored;
  claimed.delay = {};
  claimed.ttl.reset();
  const auto known = client.jobs.find(stored.id);
  if (known) {
    known->expires_at.reset();
    known->runnable_at = std::min(known->runnable_at, Clock::now());
    stop_run(*known);
  }
  restore(client, kind, claimed);
  if (!known) return;
  client.waiting.note_job(*client.waiting.find(stored.id));
  watched_.erase(stored.id);
}

/// What it has begun ends at its next chunk, and says nothing any more.   Errors: std::bad_alloc.
void JobService::stop_run(Job& job) {
  auto& mine = *job.unfinished;
  renew_controller(job);
  mine.begun = false;
  mine.is_told = false;
  mine.is_held_back = false;
  mine.posted.reset();
  mine.run_place.reset();
  mine.suspect_place.reset();
  mine.timer.reset();
  mine.held_run.reset();
  mine.held_start = nullptr;
  job.place_in_held.unlink();
  mine.asking.reset();
  mine.held.reset();
  count_anew(job, job.runnable_at);
}

/// Of a job that has not begun.   Errors: std::bad_alloc.
void JobService::release_claim(Client& client, Job& job) {
  keeper_->release(job.id, job.attempts.latest, [this] { tell_claimable(); });
  leave_to_others(client, job);
}

void JobService::leave_to_others(Client& client, const JobId& id) {
  forget_waiting(client, id);
  if (const auto job = client.jobs.find(id); job && !job->finished()) leave_to_others(client, *job);
}

/// One that has been claimed anew stays. Who waits for another one is told of its end by the
/// database.
void JobService::leave_to_others(Client& client, Job& job) {
  const bool is_claimed = client.waiting.find(job.id) != nullptr;
  if (shutting_down() || (job.on_finished.empty() && !is_claimed)) {
    job.unfinished->controller.abort();
    return finish(client, job, {JobState::queued, {}});
  }
  stop_run(job);
  if (!is_claimed) {
    job.unfinished->memory = client.budget->take_memory(job_bytes);
    watched_.insert_or_assign(job.id, &client);
  }
  post_waiting(client);  // others may have its places
}

/// A record without a Job is of that attempt: claims and losses come in their order.
void JobService::lose_attempt(Client& client, const JobId& id, Attempt attempt) {
  const auto job = client.jobs.find(id);
  if (!job) return forget_waiting(client, id);
  if (!job->finished() && job->attempts.latest == attempt) hear_of(client, id);
}

void JobService::hear_of(Client& client, const JobId& id) {
  const auto job = client.jobs.find(id);
  if (!job || job->finished()) return;
  keeper_->reread(
      id, [this, &client, id, run = job->unfinished->run](const std::optional<StoredJob>& stored) {
        if (const auto known = find_run(client, id, run)) hear_of(client, *known, stored);
      });
}

/// Errors: std::bad_alloc, after which it may be called again.
void JobService::hear_of(Client& client, Job& job, const std::optional<StoredJob>& stored) {
  const bool is_watched = watched_.contains(job.id);
  if (!stored) {
    job.unfinished->controller.abort();
    finish_aborted(client, job, job_deleted);
  } else if (is_end(stored->state) && stored->state != StoredState::done) {
    hear_of_end(client, job, *stored, nullptr);
  } else if (!is_watched) {
    leave_to_others(client, job);
  } else if (stored->state == StoredState::done) {
    hear_of_done(client, job, *stored);
  }
}

/// What cannot be read now is read when the job is looked at again.   Errors: std::bad_alloc.
void JobService::hear_of_done(Client& client, const Job& job, const StoredJob& stored) {
  keeper_->when(keeper_->journal().read_result(job.id, {0, stored.result_bytes}),
                [this, &client, stored](const JournalResult<std::string>& bytes) {
                  const auto known = client.jobs.find(stored.id);
                  if (!bytes || !known || known->finished() || !watched_.contains(stored.id))
                    return;
                  hear_of_end(client, *known, stored,
                              std::make_shared<const JobResult>(
                                  from_stored(stored.result_description, *bytes)));
                });
}

void JobService::hear_of_end(Client& client, Job& job, const StoredJob& stored,
                             std::shared_ptr<const JobResult> result) {
  job.note_attempts(stored);
  job.unfinished->controller.abort();
  watched_.insert_or_assign(job.id, &client);
  finish(client, job, end_of(stored, std::move(result)));
}

void JobService::note_priority(Client& client, const JobId& id, heist::TaskPriority priority) {
  const auto job = client.jobs.find(id);
  const auto* const waiting = client.waiting.find(id);
  if (job ? job->finished() : waiting == nullptr) return;
  const auto group = job ? job->group : waiting->line->group;
  const auto& signal_name = job ? job->signal_name : waiting->line->signal_name;
  const auto now = job ? job->priority() : waiting->line->priority();
  const bool has_its_own = (job ? job->fixed_priority : waiting->line->fixed).has_value();
  if (now == priority) return;
  if (!has_its_own) {
    move_group(client, std::string(signal_name), group, priority);
  } else if (!group && job) {
    set_priority(client, *job, priority);
  } else if (!group) {
    move_waiting(client, id, priority);
  }
}

void JobService::note_pauses(const ClientTable& clients, const std::vector<StoredPause>& pauses) {
  std::set<std::tuple<std::string_view, StoredPause::Of, std::string_view>> on;
  for (const auto& pause : pauses) on.emplace(pause.client, pause.of, pause.name);
  for (const auto& client : clients.all()) {
    for (const auto& [name, kind] : kinds_->all()) {
      const bool is_on = on.contains({client->name, StoredPause::Of::kind, name});
      if (client->kind_pauses.of(kind)->is_on() != is_on) set_pause(*client, kind, is_on);
    }
    const auto groups = client->signals.all();
    for (const auto& [name, group] : groups) {
      const bool is_on = on.contains({client->name, StoredPause::Of::signal, name});
      if (group->pause.is_on() != is_on) static_cast<void>(set_pause(*client, name, is_on));
    }
  }
}

}  // namespace heistd
