// DrainWatch: tells once that a drain without a deadline makes no progress, and what it waits for.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/version.hpp>
#include <optional>
#include <string>

#include "../task/close_terms.hpp"

namespace HEIST_NAMESPACE::detail {

/// Why a drain makes no progress.
struct DrainObstacle {
  std::string what;        ///< empty when nothing waits
  std::uint64_t mark = 0;  ///< stays the same until something that waits goes on
};

/// How long a drain may wait for the same before that is told; for tests.   Returns the former one.
std::chrono::nanoseconds set_drain_patience(std::chrono::nanoseconds patience) noexcept;
/// The time between two looks at what waits.
[[nodiscard]] std::chrono::nanoseconds patience_for_waits() noexcept;

/// Thread: one.
class DrainWatch {
 public:
  explicit DrainWatch(CloseTerms& terms) noexcept;

  /// When to look next. Nothing when the drain has a deadline, as it will end then.
  [[nodiscard]] std::optional<CloseTerms::Clock::time_point> due() const noexcept;
  /// Looks, when it is time. An obstacle that was found twice is told to the error hook, by the
  /// first of all that look. `find()` gives a DrainObstacle.
  template <class Find>
  void look(Find&& find) noexcept {
    next_ = after_patience();
    try {
      const DrainObstacle found = find();
      if (!found.what.empty() && found.mark == last_mark_) tell(found.what);
      last_mark_ = found.what.empty() ? std::nullopt : std::optional(found.mark);
    } catch (
        ...) {  // NOLINT(bugprone-empty-catch): no memory for the words; the next look may have it
    }
  }

 private:
  [[nodiscard]] static CloseTerms::Clock::time_point after_patience() noexcept;
  void tell(const std::string& what);

  CloseTerms& terms_;
  CloseTerms::Clock::time_point next_;
  std::optional<std::uint64_t> last_mark_;
};

}  // namespace HEIST_NAMESPACE::detail
