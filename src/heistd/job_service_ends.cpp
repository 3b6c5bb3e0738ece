// What becomes of a job of which the last run has ended.
#include <algorithm>
#include <heistd/job_service.hpp>
#include <utility>

namespace heistd {
namespace {

void count_run(LevelStats& level, const JobTimes& times) {
  level.queue_delay.add(times.queue_delay);
  level.longest_chunk = std::max(level.longest_chunk, times.longest);
  level.chunks += times.chunks;
}

}  // namespace

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
