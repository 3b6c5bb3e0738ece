// ContinuationRun: continuations of one level that an agent picks one after another, and for how
// long (contract YLD-6).
#pragma once

#include <chrono>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// Thread: the agent.
class ContinuationRun {
 public:
  /// Notes that something of this level is picked.
  void note_pick(int level, std::chrono::nanoseconds now) noexcept {
    before_ = now_;
    if (level == now_.level) return;
    const bool is_continuation = level >= 0 && level % 2 == 1;
    now_ = {is_continuation ? level : none, now};
  }
  /// Takes the last pick back, as what was picked did not run.
  void forget_pick() noexcept { now_ = before_; }
  /// Whether it is the turn of a task of the continuations' priority, if one is runnable.
  [[nodiscard]] bool has_lasted(std::chrono::nanoseconds cap,
                                std::chrono::nanoseconds now) const noexcept {
    return now_.level != none && now - now_.since >= cap;
  }
  /// Whether it is the turn of bound tasks, when there are stealable ones, too: every other time.
  [[nodiscard]] bool is_bounds_turn() noexcept { return bounds_turn_ = !bounds_turn_; }
  [[nodiscard]] int level() const noexcept { return now_.level; }
  [[nodiscard]] int level_of_tasks() const noexcept { return now_.level - 1; }

 private:
  static constexpr int none = -1;

  struct Run {
    int level = none;
    std::chrono::nanoseconds since{};
  };

  Run now_;
  Run before_;
  bool bounds_turn_ = false;
};

}  // namespace HEIST_NAMESPACE::detail
