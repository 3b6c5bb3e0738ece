// OwnCount: a number that one thread changes and any thread may read.
#pragma once

#include <cstddef>
#include <heist/detail/sync.hpp>

namespace HEIST_NAMESPACE::detail {

// Roles   owner: changes it, without read-modify-writes.  reader: any thread; sees what it was a
//         moment ago.
// Edge own_count: set -> get. Whoever has seen a number sees, of the owner's other numbers, what he
//         set before (see LoopCore::try_tally(), which adds several up).
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
    return count_.load(sync::relaxed);  // relaxed: the owner reads what he wrote.
  }
  OwnCount& set(std::size_t count) noexcept {
    count_.store(count, sync::edge("own_count:set", sync::release));
    return *this;
  }

  sync::atomic<std::size_t> count_{0};
};

}  // namespace HEIST_NAMESPACE::detail
