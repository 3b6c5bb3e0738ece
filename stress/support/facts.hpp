// Facts: what other threads have done, for tasks that may not start after it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <heist/detail/sync.hpp>

namespace heist::stress {

using namespace detail;

/// Facts that come true once in a round, each told by the thread that made it true.
template <std::size_t count>
class Facts {
 public:
  using Mask = std::uint32_t;
  static_assert(count <= 32);

  void tell(std::size_t fact) {
    facts_[fact].store(true, sync::edge("stress:tell", sync::release));
  }
  [[nodiscard]] Mask known() const {
    Mask mask = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (facts_[i].load(sync::edge("stress:told", sync::acquire))) mask |= Mask{1} << i;
    }
    return mask;
  }
  /// To be called at a quiet point.
  void forget() {
    for (auto& fact : facts_) fact.store(false, sync::relaxed);  // relaxed: nobody looks.
  }

 private:
  std::array<sync::atomic<bool>, count> facts_{};
};

}  // namespace heist::stress
