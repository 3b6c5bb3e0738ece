#include <algorithm>
#include <chrono>
#include <heist/detail/parallel_work.hpp>
#include <limits>
#include <utility>

#include "parallel_region.hpp"
#include "regions_here.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

using Clock = std::chrono::steady_clock;

/// How long a helper, or an abort, waits for the indexes in hand, when single indexes are short.
constexpr std::chrono::microseconds wanted_time{20};

/// Work that is done by then is not worth a call for helpers.
constexpr std::chrono::microseconds brief_time{5};
/// The limit for each agent. With more indexes it does not matter that the first one is done before
/// helpers are called.
constexpr std::size_t few_indexes = 16;

/// With more indexes the next step could not be counted. Such indexes may take no time at all.
constexpr std::size_t many_indexes = std::numeric_limits<std::size_t>::max() / 4;

/// How many indexes take about the wanted time, after `step` of them took the time `taken`.
std::size_t next_step(std::size_t step, Clock::duration taken) noexcept {
  if (step > many_indexes) return step;
  if (taken * 8 < wanted_time) return step * 4;
  if (taken * 2 < wanted_time) return step * 2;
  if (taken > wanted_time * 2 && step > 1) return step / 2;
  return step;
}

void run_part(ParallelWork& work, const Helpers& helpers, HelpedTask task,
              const ParallelPart& part) {
  const RegionHere region(helpers, task.priority());
  (*region).run(work, std::move(task), part);
}

}  // namespace

void ParallelLoop::run(ParallelRegion& region, ParallelPart part) {
  for (auto started = Clock::now(); part.begin != part.end;) {
    if (region.try_leave(part)) return;
    while (region.wants_offer_of(part)) offer_half(region, part);
    started = run_step(part, started);
  }
}

/// Returns the time at which the step was done.
ParallelLoop::Time ParallelLoop::run_step(ParallelPart& part, Time started) {
  const std::size_t step = std::min(part.step, part.size());
  run_indexes(part.begin, part.begin + step, part.result);
  part.begin += step;
  const auto now = Clock::now();
  part.step = next_step(part.step, now - started);
  return now;
}

void ParallelLoop::offer_half(ParallelRegion& region, ParallelPart& part) {
  const std::size_t middle = part.end - part.size() / 2;
  if (region.offer({middle, part.end, part.step, cut(part.result)})) part.end = middle;
}

/// Runs indexes until that has taken longer than a call for helpers would.   Errors: what the work
/// throws.
void ParallelLoop::run_briefly(ParallelPart& part) {
  const auto begun = Clock::now();
  for (auto started = begun; part.begin != part.end && started - begun < brief_time;) {
    started = run_step(part, started);
  }
}

void ParallelLoop::run_all(std::size_t count) {
  const Helpers helpers;
  HelpedTask task;
  task.throw_if_aborted();
  ParallelPart whole{.begin = 0, .end = count};
  // When there are few indexes, each of them may take long.
  if (helpers.agents() > 1 && count > few_indexes * helpers.agents()) run_briefly(whole);
  if (whole.begin != whole.end) run_part(*this, helpers, std::move(task), whole);
}

void run_parallel(ParallelWork& work, std::size_t count) {
  HelpedTask task;
  task.throw_if_aborted();
  if (count != 0) run_part(work, Helpers(), std::move(task), {.begin = 0, .end = count});
}

bool try_leave(ParallelRegion& region, const ParallelPart& part) { return region.try_leave(part); }

bool offer(ParallelRegion& region, const ParallelPart& part) { return region.offer(part); }

}  // namespace HEIST_NAMESPACE::detail
