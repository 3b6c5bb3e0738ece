// Ref: an intrusive shared pointer, and the reference count its targets embed.
#pragma once

#include <cstdint>
#include <heist/detail/sync.hpp>
#include <heist/version.hpp>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// A reference count that several threads may change.
///
/// Edge ref: drop -> drop, last. Each drop is one read-modify-write. It releases the dropper's last
/// use and acquires all earlier ones, so whoever drops last may destroy the target. A holder that
/// finds itself the last one may do so as well.
class RefCount {
 public:
  explicit RefCount(std::uint32_t count) noexcept : count_(count) {}

  void add(std::uint32_t n = 1) noexcept {
    // relaxed: the caller holds a reference already, so the count cannot reach zero meanwhile.
    count_.fetch_add(n, sync::relaxed);
  }

  /// As add(), before any other thread knows the target.
  void add_unshared() noexcept {
    count_.store(count_.load(sync::relaxed) + 1, sync::relaxed);  // relaxed: published later.
  }

  /// True for the caller that dropped the last reference.
  [[nodiscard]] bool drop() noexcept {
    return count_.fetch_sub(1, sync::edge("ref:drop", sync::acq_rel)) == 1;
  }

  /// As drop(), but the last holder needs no read-modify-write. Only for a target to which nobody
  /// adds a reference with try_add(): that could come between.
  [[nodiscard]] bool drop_or_be_last() noexcept { return is_last() || drop(); }

  /// Adds a reference unless none is left. For callers that keep the memory alive but hold no
  /// reference.
  [[nodiscard]] bool try_add() noexcept {
    std::uint32_t count = count_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    // relaxed: whatever made the target known to the caller has published it, and its end waits for
    // this reference.
    while (count != 0 &&
           !count_.compare_exchange_weak(count, count + 1, sync::relaxed, sync::relaxed)) {
    }
    return count != 0;
  }

  /// Whether no reference is left. Once none is left, there will never be one again.
  [[nodiscard]] bool is_zero() const noexcept {
    return count_.load(sync::edge("ref:last", sync::acquire)) == 0;
  }

  /// For a holder: whether there are more than `count` references.
  [[nodiscard]] bool is_more_than(std::uint32_t count) const noexcept {
    // relaxed: nothing that others did is read on the strength of it.
    return count_.load(sync::relaxed) > count;
  }

  /// For a holder: whether it is the last one.
  [[nodiscard]] bool is_last() const noexcept {
    return count_.load(sync::edge("ref:last", sync::acquire)) == 1;
  }

 private:
  sync::atomic<std::uint32_t> count_;
};

/// Shared owner of a T that counts its references itself, through `retain(T&)` and `release(T&)`.
template <class T>
class Ref {
 public:
  Ref() noexcept = default;
  ~Ref() { reset(); }
  Ref(const Ref& other) noexcept : Ref(share(other.target_)) {}
  Ref(Ref&& other) noexcept : target_(std::exchange(other.target_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(target_, other.target_);
    return *this;
  }

  /// Takes over a reference the caller owns.
  [[nodiscard]] static Ref adopt(T* target) noexcept {
    Ref result;
    result.target_ = target;
    return result;
  }

  /// Adds a reference.
  [[nodiscard]] static Ref share(T* target) noexcept {
    if (target != nullptr) retain(*target);
    return adopt(target);
  }

  [[nodiscard]] T* get() const noexcept { return target_; }
  [[nodiscard]] T* operator->() const noexcept { return target_; }
  [[nodiscard]] T& operator*() const noexcept { return *target_; }
  explicit operator bool() const noexcept { return target_ != nullptr; }

  /// Gives the reference to the caller.
  [[nodiscard]] T* detach() noexcept { return std::exchange(target_, nullptr); }

  void reset() noexcept {
    if (T* target = detach()) release(*target);
  }

  friend bool operator==(const Ref&, const Ref&) noexcept = default;

 private:
  T* target_ = nullptr;
};

}  // namespace HEIST_NAMESPACE::detail
