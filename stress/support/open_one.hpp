// OpenOne: one of the coroutines of a round that have not ended yet.
#pragma once

#include <heist/detail/sync.hpp>
#include <utility>

namespace heist::stress {

using namespace detail;

/// Counts itself in `open` from its construction until it is destroyed; what it is moved to takes
/// its place. A coroutine that has it in its frame is counted until its frame has gone.
class OpenOne {
 public:
  explicit OpenOne(sync::atomic<int>& open) noexcept : open_(&open) {
    open_->fetch_add(1, sync::relaxed);  // relaxed: who looks at it looks again.
  }
  OpenOne(OpenOne&& other) noexcept : open_(std::exchange(other.open_, nullptr)) {}
  OpenOne& operator=(OpenOne&&) = delete;
  ~OpenOne() {
    // relaxed: as above.
    if (open_ != nullptr) open_->fetch_sub(1, sync::relaxed);
  }

  /// False once it was moved from.
  explicit operator bool() const noexcept { return open_ != nullptr; }

 private:
  sync::atomic<int>* open_;
};

}  // namespace heist::stress
