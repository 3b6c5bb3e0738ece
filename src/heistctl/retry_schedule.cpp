#include <algorithm>
#include <heistctl/retry_schedule.hpp>
#include <utility>

namespace heistctl {

std::optional<std::chrono::milliseconds> RetrySchedule::next(
    Clock::time_point now, std::optional<std::chrono::seconds> asked) {
  constexpr std::chrono::milliseconds longest{2000};
  // As seconds, as there may be more than can be counted in a smaller unit.
  if (asked && *asked > std::chrono::ceil<std::chrono::seconds>(end_ - now)) return std::nullopt;
  const std::chrono::milliseconds pause =
      asked ? *asked : std::exchange(pause_, std::min(2 * pause_, longest));
  if (now + pause > end_) return std::nullopt;
  return pause;
}

}  // namespace heistctl
