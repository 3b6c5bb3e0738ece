#include "loop_options.hpp"

#include <bit>
#include <stdexcept>
#include <string>

#include "../os/cpu_limit.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

void check(const MaxWait& most) {
  for (const auto wait : {most.user_blocking, most.user_visible, most.background}) {
    if (wait == wait.zero()) continue;
    if (wait < std::chrono::milliseconds(1) || wait > std::chrono::hours(1)) {
      throw std::invalid_argument(
          "EventLoopOptions::max_wait must be zero, or from a millisecond to an hour, for each "
          "priority");
    }
  }
}

}  // namespace

void check_sampling(std::uint32_t every, const char* what) {
  if (every == 0 || std::has_single_bit(every)) return;
  throw std::invalid_argument(std::string(what) + " is " + std::to_string(every) +
                              ", and has to be zero or a power of two");
}

EventLoopOptions checked_options(const EventLoopOptions& options) {
  if (options.tick <= options.tick.zero() || options.tick > std::chrono::hours(1)) {
    throw std::invalid_argument("EventLoopOptions::tick must be positive, and an hour at the most");
  }
  if (options.spin < options.spin.zero() || options.spin > std::chrono::hours(1)) {
    throw std::invalid_argument(
        "EventLoopOptions::spin must not be negative, and an hour at the most");
  }
  if (options.continuation_cap < options.continuation_cap.zero() ||
      options.continuation_cap > std::chrono::hours(1)) {
    throw std::invalid_argument(
        "EventLoopOptions::continuation_cap must not be negative, and an hour at the most");
  }
  check(options.max_wait);
  check_sampling(options.sample_every, "EventLoopOptions::sample_every");
  EventLoopOptions checked = options;
  if (available_cpus() <= 1) checked.spin = checked.spin.zero();
  return checked;
}

}  // namespace HEIST_NAMESPACE::detail
