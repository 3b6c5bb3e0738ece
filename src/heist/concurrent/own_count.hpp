// OwnCount: a number that one thread changes and any thread may read.
#pragma once

#include <cstddef>
#include <heist/detail/sync.hpp>

namespace HEIST_NAMESPACE::detail {

// Roles   owner: changes the number, without read-modify-writes.  reader: any thread; it sees what
//         the number was a moment ago.
// Edge own_count: set -> get. A reader that has seen a number also sees what the owner set its
//         other numbers to before (see LoopCore::try_tally(), which adds several up).
// Progress  wait-free.   Proof  stress/model/models/closing.cpp
class OwnCount {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): stands for its number.
  operator std::size_t() const noexcept {
    return count_.load(sync::edge("own_count:get", sync::acquire));
  }
  OwnCount& operator++() noexcept { return set(own() + 1); }
  OwnCount& operator--() noexcept { return set(own() - 1); }

 private:
  [[nodiscard]] std::size_t own() const noexcept {
    return count_.load(sync::relaxed);  // relaxed: the owner reads what it wrote.
  }
  OwnCount& set(std::size_t count) noexcept {
    count_.store(count, sync::edge("own_count:set", sync::release));
    return *this;
  }

  sync::atomic<std::size_t> count_{0};
};

}  // namespace HEIST_NAMESPACE::detail
