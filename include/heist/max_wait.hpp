// MaxWait: how long tasks of each priority may wait before they are picked whatever else there is.
#pragma once

#include <chrono>
#include <heist/priority.hpp>

namespace heist {

/// The longest that tasks and continuations of each priority may wait once they are runnable; zero:
/// for ever, as the specification has it. What has waited for that long is picked before everything
/// that has not, whatever its level; of several such the one that has done so first. So under
/// overload it is worth giving one to every priority: one without is served only while nothing else
/// is late.
///
/// Spec:   contract WAIT-1...6.
/// Units:  zero, or from a millisecond to an hour; what takes it throws std::invalid_argument for
///         others.
/// Cost:   none while all are zero; else each pick reads the clock.
struct MaxWait {
  std::chrono::nanoseconds user_blocking{};
  std::chrono::nanoseconds user_visible{};
  std::chrono::nanoseconds background{};

  /// The timeouts of the cooperative scheduler: of its user-blocking, normal and low priorities.
  [[nodiscard]] static constexpr MaxWait cooperative_timeouts() noexcept {
    return {.user_blocking = std::chrono::milliseconds(250),
            .user_visible = std::chrono::seconds(5),
            .background = std::chrono::seconds(10)};
  }

  [[nodiscard]] constexpr std::chrono::nanoseconds of(TaskPriority priority) const noexcept {
    switch (priority) {
      case TaskPriority::background:
        return background;
      case TaskPriority::user_visible:
        return user_visible;
      case TaskPriority::user_blocking:
        break;
    }
    return user_blocking;
  }
  friend constexpr bool operator==(const MaxWait&, const MaxWait&) noexcept = default;
};

}  // namespace heist
