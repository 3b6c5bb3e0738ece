#include "drain_watch.hpp"

#include <heist/detail/report_error.hpp>
#include <heist/detail/sync.hpp>
#include <heist/error.hpp>

namespace HEIST_NAMESPACE::detail {

namespace {

/// The time between two looks that have to find the same.
sync::atomic<std::chrono::nanoseconds::rep> patience_between_looks{
    std::chrono::nanoseconds(std::chrono::milliseconds(2500)).count()};

}  // namespace

std::chrono::nanoseconds set_drain_patience(std::chrono::nanoseconds patience) noexcept {
  // relaxed: a number.
  return 2 * std::chrono::nanoseconds(
                 patience_between_looks.exchange(patience.count() / 2, sync::relaxed));
}

std::chrono::nanoseconds patience_for_waits() noexcept {
  // relaxed: a number.
  return std::chrono::nanoseconds(patience_between_looks.load(sync::relaxed));
}

DrainWatch::DrainWatch(CloseTerms& terms) noexcept : terms_(terms), next_(after_patience()) {}

CloseTerms::Clock::time_point DrainWatch::after_patience() noexcept {
  return CloseTerms::Clock::now() + patience_for_waits();
}

std::optional<CloseTerms::Clock::time_point> DrainWatch::due() const noexcept {
  if (terms_.deadline() || terms_.has_told()) return std::nullopt;
  return next_;
}

void DrainWatch::tell(const std::string& what) {
  const std::string text = "a drain without a deadline does not get on: " + what;
  Reason reason{TimeoutError(text.c_str())};
  if (terms_.may_tell()) report_error(ErrorOrigin::close, reason);
}

}  // namespace HEIST_NAMESPACE::detail
