// How jobs are given up: one, those of a signal, or all.
#include <heistd/job_service.hpp>
#include <heistd/limits.hpp>
#include <utility>

namespace heistd {

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
/// the journal already. Its upload counts until the journal has its end.
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
  if (const auto* const record = client.waiting.find(job.id)) {
    mine.stored = client.budget->take_stored(record->stored_bytes);
    client.waiting.remove(job.id);
  }
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

void JobService::finish_aborted(Client& client, Job& job, std::string_view reason,
                                std::optional<JobFailure> why) {
  ++client.stats_of(job.priority()).aborted;
  JobTimes times;
  times.queue_delay = job.progress->queue_delay().value_or(std::chrono::nanoseconds{});
  finish(client, job, {JobState::aborted, times, nullptr, std::move(why), reason});
}

}  // namespace heistd
