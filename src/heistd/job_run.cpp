#include <algorithm>
#include <heistd/job_run.hpp>
#include <heistd/limits.hpp>
#include <utility>

namespace heistd {
namespace {

/// Adds the chunk of its scope to the times, however it ends.
struct ChunkTimer {
  explicit ChunkTimer(JobTimes& its_times) noexcept : times(its_times) { ++times.chunks; }
  ChunkTimer(const ChunkTimer&) = delete;
  ChunkTimer& operator=(const ChunkTimer&) = delete;
  ~ChunkTimer() {
    const std::chrono::nanoseconds took = Clock::now() - start;
    times.run += took;
    times.longest = std::max(times.longest, took);
  }

  JobTimes& times;
  const Clock::time_point start = Clock::now();
};

}  // namespace

JobRun::JobRun(JobStart start, heist::Scheduler scheduler, const EndSink& on_end)
    : start_(std::move(start)),
      scheduler_(std::move(scheduler)),
      on_end_(on_end),
      runnable_at_(Clock::now() + start_.delay) {}

bool JobRun::post_first() { return post_chunk(start_.delay); }

bool JobRun::post_chunk(heist::Delay delay) {
  heist::PostTaskOptions options;
  options.signal = start_.group ? *start_.group : start_.own_signal;
  options.priority = start_.priority;
  options.delay = delay;
  return scheduler_.post([self = shared_from_this()] { self->run_chunk(); }, options);
}

void JobRun::run_chunk() {
  // A job of a group may have been aborted alone; the group's tasks stay queued then.
  if (start_.own_signal.aborted()) return end({});
  try {
    if (auto result = work_on()) return end(std::move(*result));
    // Refused: aborted meanwhile, or the loop is closed.
    if (!post_chunk({})) end({});
  } catch (const JobFailure& failure) {
    end(failure);
  } catch (const std::exception& error) {
    end(JobFailure("internal", error.what()));
  }
}

std::optional<JobResult> JobRun::work_on() {
  const ChunkTimer timer(times_);
  if (times_.chunks == 1) note_start(timer.start);
  if (!start_.work->step(chunk_budget)) return std::nullopt;
  auto result = start_.work->take_result();
  start_.work.reset();
  return result;
}

void JobRun::note_start(Clock::time_point now) noexcept {
  times_.started_at = start_.priority ? *start_.priority : start_.group->priority();
  times_.queue_delay = std::max<std::chrono::nanoseconds>(now - runnable_at_, {});
  start_.progress->start(times_.queue_delay);
}

void JobRun::end(decltype(JobEnd::outcome) outcome) {
  start_.work.reset();
  on_end_({start_.client, start_.id, times_, std::move(outcome)});
}

}  // namespace heistd
