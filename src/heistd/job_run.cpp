#include <algorithm>
#include <heistd/job_run.hpp>
#include <heistd/limits.hpp>
#include <utility>

namespace heistd {

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
    if (!step()) {
      // Refused: aborted meanwhile, or the loop is closed.
      if (!post_chunk({})) end({});
      return;
    }
    end(start_.work->take_result());
  } catch (const JobFailure& failure) {
    end(failure);
  } catch (const std::exception& error) {
    end(JobFailure("internal", error.what()));
  }
}

bool JobRun::step() {
  const auto start = Clock::now();
  if (times_.chunks == 0) note_start(start);
  const bool done = start_.work->step(chunk_budget);
  const auto took = Clock::now() - start;
  ++times_.chunks;
  times_.run += took;
  times_.longest = std::max<std::chrono::nanoseconds>(times_.longest, took);
  return done;
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
