// AgentTimes: how long the sampled tasks of an agent waited and ran.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <heist/detail/levels.hpp>
#include <optional>
#include <utility>

#include "../concurrent/own_histogram.hpp"
#include "running_label.hpp"

namespace HEIST_NAMESPACE::detail {

/// The agent counts, in the unit of its MetricClock, and any thread reads.
class AgentTimes {
 public:
  // What only the agent calls.

  /// A sampled task starts that has waited for so long.
  void count_wait(int level, std::uint64_t waited) noexcept {
    waits_[static_cast<std::size_t>(level)].count(waited);
  }
  /// Called for a sampled task: whether it is timed as it runs. One in four is, unless each is to
  /// be: they are chosen by chance already, and reading the time once more is a third of the price.
  [[nodiscard]] bool chooses_run(bool each) noexcept { return (++sampled_ & 3U) == 0 || each; }
  /// A task starts now that is timed as it runs. Only the time of a chosen one counts.
  void begin(const TaskLabel& label, int level, std::uint64_t now, bool counts) noexcept {
    level_ = level;
    began_ = now;
    counts_ = counts;
    label_.say(label, now);
  }
  /// Whether the running task is timed.
  [[nodiscard]] bool is_measuring() const noexcept { return began_ != 0; }
  void end(std::uint64_t now) noexcept {
    if (counts_) runs_[static_cast<std::size_t>(level_)].count(now > began_ ? now - began_ : 0);
    began_ = 0;
    label_.end();
  }

  // What any thread may call.

  /// What is known of the task that runs.
  [[nodiscard]] const RunningLabel& running() const noexcept { return label_; }
  [[nodiscard]] const OwnHistogram& waits(int level) const noexcept {
    return waits_[static_cast<std::size_t>(level)];
  }
  [[nodiscard]] const OwnHistogram& runs(int level) const noexcept {
    return runs_[static_cast<std::size_t>(level)];
  }

  /// A scope in which other tasks run within the one that runs, and end before it.
  class Within {
   public:
    explicit Within(AgentTimes& times) noexcept
        : times_(times),
          label_(times.label_.look()),
          began_(std::exchange(times.began_, 0)),
          level_(times.level_),
          counts_(times.counts_) {}
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;
    ~Within() {
      if (began_ != 0) times_.begin(label_ ? label_->label : TaskLabel(), level_, began_, counts_);
    }

   private:
    AgentTimes& times_;
    const std::optional<RunningLabel::Seen> label_;
    const std::uint64_t began_;
    const int level_;
    const bool counts_;
  };

 private:
  std::uint32_t sampled_ = 0;  ///< tasks
  std::uint64_t began_ = 0;    ///< the running task, if it is timed, else zero
  int level_ = 0;              ///< of that task
  bool counts_ = false;        ///< whether that task was chosen
  RunningLabel label_;
  std::array<OwnHistogram, level_count> waits_;
  std::array<OwnHistogram, level_count> runs_;
};

}  // namespace HEIST_NAMESPACE::detail
