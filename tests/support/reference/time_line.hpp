// The simulated clock of the reference model (FORMAT.md 3.6): what is to happen when.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace heist::reference {

/// When the end of a delay is noticed that passed during a task. FORMAT.md leaves it open.
enum class Notice { during_the_task, after_the_task };

class TimeLine {
 public:
  using Steps = std::function<void()>;

  explicit TimeLine(Notice notice) : notice_(notice) {}

  /// HTML: run steps after a timeout. In order of expiry, then of this call.
  void run_after(int delay, Steps steps) { pending_.emplace(now_ + delay, std::move(steps)); }
  /// Runs the steps of all delays that have passed.
  void run_expired();
  /// A task takes that time. False where a delay ends just then: with a real clock that could go
  /// either way.
  [[nodiscard]] bool spin(int duration);
  /// To the next end of a delay; false: there is none.
  [[nodiscard]] bool advance();

 private:
  std::int64_t now_ = 0;
  std::multimap<std::int64_t, Steps> pending_;
  Notice notice_;
};

}  // namespace heist::reference
