// AgentTimes: how long the sampled tasks of an agent waited and ran.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <heist/detail/levels.hpp>

#include "../concurrent/own_histogram.hpp"

namespace HEIST_NAMESPACE::detail {

/// The agent counts, in the unit of its MetricClock, and any thread reads.
class AgentTimes {
 public:
  // What only the agent calls.

  /// A sampled task starts now that has waited for so long.
  void begin(int level, std::uint64_t waited, std::uint64_t now) noexcept {
    waits_[static_cast<std::size_t>(level)].count(waited);
    level_ = level;
    began_ = now;
  }
  /// Whether a sampled task runs.
  [[nodiscard]] bool is_measuring() const noexcept { return began_ != 0; }
  void end(std::uint64_t now) noexcept {
    runs_[static_cast<std::size_t>(level_)].count(now > began_ ? now - began_ : 0);
    began_ = 0;
  }

  // What any thread may call.

  [[nodiscard]] const OwnHistogram& waits(int level) const noexcept {
    return waits_[static_cast<std::size_t>(level)];
  }
  [[nodiscard]] const OwnHistogram& runs(int level) const noexcept {
    return runs_[static_cast<std::size_t>(level)];
  }

  /// A scope in which other tasks run within the one that runs. These are not measured.
  class Within {
   public:
    explicit Within(AgentTimes& times) noexcept : times_(times), outer_(times.began_) {
      times.began_ = 0;
    }
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;
    ~Within() { times_.began_ = outer_; }

   private:
    AgentTimes& times_;
    const std::uint64_t outer_;
  };

 private:
  std::uint64_t began_ = 0;  ///< the running task, if it is sampled, else zero
  int level_ = 0;            ///< of that task
  std::array<OwnHistogram, level_count> waits_;
  std::array<OwnHistogram, level_count> runs_;
};

}  // namespace HEIST_NAMESPACE::detail
