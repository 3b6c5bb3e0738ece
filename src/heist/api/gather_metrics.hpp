// Puts together what the parts of loops and clusters have counted.
#pragma once

#include <array>
#include <cstdint>
#include <heist/metrics.hpp>
#include <optional>

#include "../concurrent/own_histogram.hpp"
#include "../loop/loop_core.hpp"

namespace HEIST_NAMESPACE::detail {

/// The times of all levels, which several agents have counted together.
struct LevelTimes {
  std::array<CountedTimes, level_count> waits;
  std::array<CountedTimes, level_count> runs;

  void add(const AgentTimes& times) noexcept;
  /// `unit`: how many nanoseconds the unit of the times is.
  void give(LevelsMetrics& to, double unit) const;
};

[[nodiscard]] CountedTimes counted(const OwnHistogram& histogram) noexcept;
[[nodiscard]] Histogram histogram_of(const CountedTimes& times, double unit);

/// Adds what an agent has counted, and what waits in its own queues, but no times.
///
/// Thread: any.
void add_counts(LevelsMetrics& to, LoopCore& loop) noexcept;
/// Says since when the first sampled task waits that was posted to this loop or cluster.
void add_oldest(LevelsMetrics& to, const TaskHome& home) noexcept;
/// How many tasks wait at all levels together.
[[nodiscard]] std::uint64_t waiting_in(const LevelsMetrics& levels) noexcept;
/// What runs on a loop, if anything does. `unit`: how many nanoseconds its times' unit is.
///
/// Thread: any.
[[nodiscard]] std::optional<RunningMetrics> look_at_running(const LoopCore& loop,
                                                            double unit) noexcept;
/// The metrics of one loop, all but the number of stolen tasks.
///
/// Thread: any.   Errors: std::bad_alloc.
[[nodiscard]] LoopMetrics gather(LoopCore& loop);

}  // namespace HEIST_NAMESPACE::detail
