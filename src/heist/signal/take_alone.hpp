// take_alone: the last use of a pointer that others could have read before.
#pragma once

#include <heist/detail/sync.hpp>

namespace HEIST_NAMESPACE::detail {

/// To be called when nobody else looks at the pointer any more: takes what it holds, and makes it
/// null. Nothing is stored when it is null already, which it mostly is.
template <class T>
[[nodiscard]] T* take_alone(sync::atomic<T*>& pointer) noexcept {
  // relaxed, both: no other user is left (RefCount).
  T* taken = pointer.load(sync::relaxed);
  if (taken != nullptr) pointer.store(nullptr, sync::relaxed);
  return taken;
}

}  // namespace HEIST_NAMESPACE::detail
