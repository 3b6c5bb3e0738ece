// Owner: the one owner of an object, which ends it.
#pragma once

#include <heist/version.hpp>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// Ends its T through `discard(T&)`, as Ref does through `release(T&)`, so that headers need not
/// know T. (std::unique_ptr could do this, but <memory> takes longer to compile than most of
/// heist.)
template <class T>
class Owner {
 public:
  Owner() noexcept = default;
  explicit Owner(T* target) noexcept : target_(target) {}
  Owner(Owner&& other) noexcept : target_(other.detach()) {}
  Owner& operator=(Owner&& other) noexcept {
    Owner moved(std::move(other));
    std::swap(target_, moved.target_);
    return *this;
  }
  ~Owner() { reset(); }

  [[nodiscard]] T* operator->() const noexcept { return target_; }
  [[nodiscard]] T& operator*() const noexcept { return *target_; }
  explicit operator bool() const noexcept { return target_ != nullptr; }

  /// Gives the object to the caller.
  [[nodiscard]] T* detach() noexcept { return std::exchange(target_, nullptr); }
  void reset() noexcept {
    if (T* target = detach()) discard(*target);
  }

 private:
  T* target_ = nullptr;
};

}  // namespace HEIST_NAMESPACE::detail
