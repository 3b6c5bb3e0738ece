// OutOfMemory: a thread of a model gets no memory for nodes.
#pragma once

#include <utility>

namespace heist::model {

/// While it lives, its thread's allocations of nodes fail, the first `times` of them.
class OutOfMemory {
 public:
  explicit OutOfMemory(int times = -1) noexcept : outer_(std::exchange(left, times)) {}
  ~OutOfMemory() { left = outer_; }
  OutOfMemory(const OutOfMemory&) = delete;
  OutOfMemory& operator=(const OutOfMemory&) = delete;

  /// For the pool: this allocation fails.
  [[nodiscard]] static bool takes_effect() noexcept {
    if (left > 0) return left-- != 0;
    return left < 0;
  }

 private:
  static inline thread_local int left = 0;  ///< -1: all
  int outer_;
};

}  // namespace heist::model
