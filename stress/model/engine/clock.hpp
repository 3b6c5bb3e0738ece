// Vector clocks: what each virtual thread knows of the others.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace heist::model {

using ThreadId = int;
inline constexpr int max_threads = 8;

/// A set of threads.
using ThreadSet = std::uint32_t;
constexpr ThreadSet only(ThreadId thread) noexcept { return ThreadSet{1} << thread; }

/// How many of its own steps a thread has made.
using Epoch = std::uint32_t;

/// For each thread, the last of its steps that happens before now.
class VectorClock {
 public:
  Epoch& operator[](ThreadId thread) noexcept { return epochs_[static_cast<std::size_t>(thread)]; }
  Epoch operator[](ThreadId thread) const noexcept {
    return epochs_[static_cast<std::size_t>(thread)];
  }
  [[nodiscard]] bool covers(ThreadId thread, Epoch epoch) const noexcept {
    return epoch <= (*this)[thread];
  }
  void join(const VectorClock& other) noexcept {
    for (std::size_t i = 0; i < epochs_.size(); ++i) {
      epochs_[i] = std::max(epochs_[i], other.epochs_[i]);
    }
  }

 private:
  std::array<Epoch, max_threads> epochs_{};
};

}  // namespace heist::model
