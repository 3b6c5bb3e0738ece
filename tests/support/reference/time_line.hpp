// TimeLine: the simulated clock of the reference model, and what is to happen when
// (tests/conformance/posttask/FORMAT.md 3.6).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace heist::reference {

/// When a delay that ended during a task is noticed. FORMAT.md leaves it open.
enum class Notice { during_the_task, after_the_task };

class TimeLine {
 public:
  using Steps = std::function<void()>;

  explicit TimeLine(Notice notice) : notice_(notice) {}

  /// HTML: run steps after a timeout. Steps run in the order of their expiry, then of these calls.
  void run_after(int delay, Steps steps) { pending_.emplace(now_ + delay, std::move(steps)); }
  /// Runs the steps of all delays that have passed.
  void run_expired();
  /// Says that the running task takes that time. Returns false when a delay ends just then: a real
  /// clock could decide either way.
  [[nodiscard]] bool spin(int duration);
  /// Sets the clock to the next end of a delay. Returns false when there is none.
  [[nodiscard]] bool advance();

 private:
  std::int64_t now_ = 0;
  std::multimap<std::int64_t, Steps> pending_;
  Notice notice_;
};

}  // namespace heist::reference
