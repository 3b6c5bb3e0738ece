// MemoryShortage: whether the system has had no memory left.
#pragma once

#include <heist/detail/sync.hpp>

namespace heistd {

/// Whoever finds no memory notes that here, so that what is kept only to be there sooner can go.
///
/// Thread: any.
class MemoryShortage {
 public:
  // relaxed, here and below: nothing else is passed on, and a note that comes late is seen later.
  static void note() noexcept { was_noted.store(true, heist::detail::sync::relaxed); }
  /// Whether it was noted since the last call.
  [[nodiscard]] static bool take() noexcept {
    return was_noted.load(heist::detail::sync::relaxed) &&
           was_noted.exchange(false, heist::detail::sync::relaxed);
  }

 private:
  static inline heist::detail::sync::atomic<bool> was_noted{false};
};

}  // namespace heistd
