// take_alone: the last use of a pointer that others could have read before.
#pragma once

#include <heist/detail/sync.hpp>

namespace HEIST_NAMESPACE::detail {

/// Takes what a pointer holds, and makes it null, when nobody else looks at it any more. Mostly it
/// is null already.
template <class T>
[[nodiscard]] T* take_alone(sync::atomic<T*>& pointer) noexcept {
  // relaxed, both: no other user is left (RefCount).
  T* taken = pointer.load(sync::relaxed);
  if (taken != nullptr) pointer.store(nullptr, sync::relaxed);
  return taken;
}

}  // namespace HEIST_NAMESPACE::detail
