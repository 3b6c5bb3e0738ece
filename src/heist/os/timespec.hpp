// Converts times of the steady clock to the form that the kernel takes.
#pragma once

#include <chrono>
#include <ctime>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

inline timespec to_timespec(std::chrono::steady_clock::time_point point) noexcept {
  const auto since_boot = point.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
  return {.tv_sec = static_cast<time_t>(seconds.count()),
          .tv_nsec = static_cast<long>((since_boot - seconds).count())};
}

}  // namespace HEIST_NAMESPACE::detail
