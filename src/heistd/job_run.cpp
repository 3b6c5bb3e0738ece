#include <algorithm>
#include <heist/yield.hpp>
#include <heistd/job_run.hpp>
#include <heistd/limits.hpp>
#include <heistd/memory_shortage.hpp>
#include <iterator>
#include <new>
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

/// Libraries may have found that without asking operator new.
OutOfMemory no_memory() noexcept {
  MemoryShortage::note();
  return {};
}

/// The blocks that a result shares with replies, if it has any.
SharedBlocks& blocks_of(JobResult& result) {
  if (auto* const bytes = std::get_if<BytesResult>(&result)) return bytes->data;
  return std::get<JsonResult>(result).text.shared;
}

}  // namespace

JobRun::JobRun(JobStart start, heist::Scheduler scheduler)
    : start_(std::move(start)), scheduler_(std::move(scheduler)) {}

heist::Promise<JobEnd> JobRun::post_first() {
  if (start_.delay.count() == 0) note_runnable();
  heist::PostTaskOptions options;
  options.signal = start_.signal;
  options.delay = start_.delay;
  options.label = start_.label;
  return scheduler_.post_task([self = shared_from_this()] { return self->run(); }, options);
}

/// Between two chunks an abort of the task's signal, or the close of the loop, ends it.
heist::Promise<JobEnd> JobRun::run() {
  note_runnable();
  if (is_paused()) co_return hold_back();
  try {
    if (start_.first && (given_up() || !start_.first->begin())) co_return end({});
    if (start_.gate) {
      auto passed = pass_gate();
      co_await passed;
      if (!start_.work) co_return end({});
      // What waits for a promise goes on when that settles, before any task. The journal counts
      // many starts at once: each job has its turn as its priority has it.
      co_await heist::yield();
    }
    // When a signal name is deleted, its jobs' signals are aborted batch by batch.
    while (!given_up()) {
      if (auto outcome = next_chunk()) co_return end(std::move(*outcome));
      if (const auto pending = start_.work->pending()) {
        if (start_.place && !start_.place->stays) leave();
        const auto start = Clock::now();
        co_await *pending;
        times_.add_wait(Clock::now() - start);
      }
      co_await heist::yield();  // also then, as others that waited may go on at the same time
    }
    co_return end({});
  } catch (const std::bad_alloc&) {  // to go on with
    co_return end(no_memory());
  }
}

heist::Promise<void> JobRun::pass_gate() {
  start_.gate->ask.resolve();
  auto opened = start_.gate->work;
  start_.work = co_await opened.taken();
}

/// Until it is posted again nothing waits for it.
JobEnd JobRun::hold_back() noexcept {
  if (start_.first) leave();  // a job that asks for its start takes its place later
  runnable_.reset();
  start_.delay = {};
  return {times_, HeldBack{shared_from_this()}};
}

/// A promise that nobody resolves is rejected in the end, which costs more.
void JobRun::leave() noexcept {
  if (start_.place) start_.place->leave.resolve();
}

void JobRun::drop_work() noexcept {
  if (!start_.work) return;
  auto body = start_.work->give_up_body();
  start_.work.reset();
  disposal().free(std::move(body), start_.ticket.split(job_bytes));
}

std::optional<JobOutcome> JobRun::next_chunk() {
  const ChunkTimer timer(times_);
  if (times_.chunks == 1) note_start(timer.start);
  try {
    return try_chunk();
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
}

std::optional<JobOutcome> JobRun::try_chunk() {
  try {
    if (!start_.work->step(chunk_budget)) return std::nullopt;
    return take_result();
  } catch (const JobFailure& failure) {
    return failure;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return JobFailure("internal", error.what());
  } catch (...) {
    return JobFailure("internal", "something was thrown that is no std::exception");
  }
}

/// The network drops it, but does not free it.
std::shared_ptr<const JobResult> JobRun::take_result() {
  auto result = start_.work->take_result();
  auto& blocks = blocks_of(result);
  blocks = disposal().share(std::move(blocks));
  return std::make_shared<const JobResult>(std::move(result));
}

void JobRun::note_start(Clock::time_point now) noexcept {
  times_.started_at = start_.signal.priority();
  times_.queue_delay = std::max<std::chrono::nanoseconds>(now - start_.runnable_at, {});
  const auto level = static_cast<std::ptrdiff_t>(times_.started_at);
  std::next(start_.start_delays->begin(), level)->add(times_.queue_delay);
  start_.progress->start(times_.queue_delay, times_.started_at);
  if (start_.started) start_.started->resolve();
}

JobEnd JobRun::end(JobOutcome outcome) noexcept {
  drop_work();
  leave();
  return {times_, std::move(outcome), std::exchange(runnable_, std::nullopt)};
}

}  // namespace heistd
