#include "gather_metrics.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace HEIST_NAMESPACE::detail {

namespace {

/// Times that are too long are the longest.
std::chrono::nanoseconds scaled(std::uint64_t value, double unit) noexcept {
  constexpr auto longest = std::chrono::nanoseconds::max();
  const double time = static_cast<double>(value) * unit;
  if (time >= static_cast<double>(longest.count())) return longest;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(time));
}

/// Whatever is longer than all others belongs to the last bucket.
std::chrono::nanoseconds end_of(std::size_t bucket, double unit) noexcept {
  const bool is_last = bucket + 1 == log_linear::bucket_count;
  return is_last ? std::chrono::nanoseconds::max() : scaled(log_linear::start_of(bucket + 1), unit);
}

}  // namespace

CountedTimes counted(const OwnHistogram& histogram) noexcept {
  CountedTimes times;
  histogram.add_to(times);
  return times;
}

Histogram histogram_of(const CountedTimes& times, double unit) {
  std::vector<Histogram::Bucket> buckets;
  for (std::size_t i = 0; i < times.buckets.size(); ++i) {
    if (times.buckets[i] == 0) continue;
    buckets.push_back({.from = scaled(log_linear::start_of(i), unit),
                       .to = end_of(i, unit),
                       .count = times.buckets[i]});
  }
  return {std::move(buckets), scaled(times.sum, unit)};
}

void LevelTimes::add(const AgentTimes& times) noexcept {
  for (int level = 0; level < level_count; ++level) {
    times.waits(level).add_to(waits[static_cast<std::size_t>(level)]);
    times.runs(level).add_to(runs[static_cast<std::size_t>(level)]);
  }
}

void LevelTimes::give(LevelsMetrics& to, double unit) const {
  for (std::size_t level = 0; level < waits.size(); ++level) {
    to.at(level).wait_time = histogram_of(waits[level], unit);
    to.at(level).run_time = histogram_of(runs[level], unit);
  }
}

void add_counts(LevelsMetrics& to, LoopCore& loop) noexcept {
  for (int level = 0; level < level_count; ++level) {
    const LevelCounts& counts = loop.level_counts(level);
    LevelMetrics& metrics = to.at(static_cast<std::size_t>(level));
    metrics.run += counts.started();
    metrics.aborted += counts.aborted;
    metrics.rejected += counts.dropped;
    metrics.waiting += counts.waiting();
    metrics.posted = metrics.run + metrics.aborted + metrics.rejected + metrics.waiting;
  }
}

void add_oldest(LevelsMetrics& to, const TaskHome& home) noexcept {
  const MetricClock& clock = home.sampling().clock();
  const double unit = clock.nanoseconds_of_unit();
  for (int level = 0; level < level_count; ++level) {
    const auto since = home.sampling().waits().oldest_at(level);
    if (!since) continue;
    const std::uint64_t now = clock.now();
    const auto age = scaled(now > *since ? now - *since : 0, unit);
    auto& oldest = to.at(static_cast<std::size_t>(level)).oldest_waiting;
    oldest = oldest ? std::max(*oldest, age) : age;
  }
}

std::uint64_t waiting_in(const LevelsMetrics& levels) noexcept {
  std::uint64_t waiting = 0;
  for (std::size_t level = 0; level < LevelsMetrics::size(); ++level)
    waiting += levels.at(level).waiting;
  return waiting;
}

std::optional<RunningMetrics> look_at_running(const LoopCore& loop, double unit) noexcept {
  if (!loop.counts().activity().runs_something()) return std::nullopt;
  const auto seen = loop.times().running().look();
  if (!seen) return RunningMetrics{};
  const std::uint64_t now = loop.sampling().clock().now();
  return RunningMetrics{.label = seen->label,
                        .running_for = scaled(now > seen->since ? now - seen->since : 0, unit)};
}

LoopMetrics gather(LoopCore& loop) {
  const double unit = loop.sampling().clock().nanoseconds_of_unit();
  LoopMetrics metrics{.levels = {},
                      .running = look_at_running(loop, unit),
                      .tasks_run = loop.counts().run(),
                      .rejected = loop.counts().dropped(),
                      .has_arriving = loop.has_posts(),
                      .delayed = loop.waiting().size(),
                      .stolen = 0,
                      .wakeups_sent = loop.sleep().wakeups_sent(),
                      .sleeps = loop.sleep().count(),
                      .asleep = scaled(loop.sleep().time().all(), unit),
                      .age = loop.time().now(),
                      .timer_lateness = histogram_of(counted(loop.waiting().lateness()), 1)};
  add_counts(metrics.levels, loop);
  add_oldest(metrics.levels, loop);
  const auto times = std::make_unique<LevelTimes>();
  times->add(loop.times());
  times->give(metrics.levels, unit);
  return metrics;
}

}  // namespace HEIST_NAMESPACE::detail
