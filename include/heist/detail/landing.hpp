// Landing: where a call of a Forkable leaves its result, in the frame of its caller.
#pragma once

#include <heist/detail/forward.hpp>
#include <heist/detail/promise_state.hpp>
#include <heist/version.hpp>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// Whether results of this type are moved into the caller's frame. The others stay in the frame of
/// the call: large ones, because a caller has two places for each fork, and those that cannot be
/// moved, or whose move may throw.
template <class T, class Stored = typename PromiseValue<T>::type>
inline constexpr bool can_land =
    std::is_nothrow_move_constructible_v<Stored> && sizeof(Stored) <= 16;

/// The result of a call. It is here once the frame of the call has landed; otherwise it is in that
/// frame, which this object owns.
///
/// Thread: the caller's.
template <class T>
class Landing {
  struct Nothing {};

 public:
  using Stored = typename PromiseValue<T>::type;
  using Landed = std::conditional_t<can_land<T>, Stored, Nothing>;

  /// Neither a result nor a frame.
  Landing() noexcept = default;
  explicit Landing(ForkablePromise<T>& frame) noexcept : frame_(&frame) {}
  /// Precondition: the call has not begun, or its frame will not land any more.
  Landing(Landing&& other) noexcept : frame_(other.release_frame()) {
    if (!other.landed_) return;
    landed_.emplace(std::move(*other.landed_));
    other.landed_.reset();
  }
  Landing& operator=(Landing&& other) noexcept {
    if (this == &other) return *this;
    std::destroy_at(this);
    return *std::construct_at(this, std::move(other));
  }
  ~Landing() {
    if (frame_ != nullptr) frame_->coroutine.destroy();
  }

  /// Makes this the place to which the frame comes.
  [[nodiscard]] ForkablePromise<T>& prepare() noexcept {
    frame_->landing = this;
    return *frame_;
  }
  /// Called by the frame, which is destroyed afterwards.
  void land(std::optional<Landed>&& result) noexcept {
    if (result) landed_.emplace(std::move(*result));
    frame_ = nullptr;
  }

  /// The frame of the call; null when it has landed.
  [[nodiscard]] ForkablePromise<T>* frame() const noexcept { return frame_; }
  [[nodiscard]] ForkablePromise<T>* release_frame() noexcept {
    return std::exchange(frame_, nullptr);
  }
  /// Whether there is neither a result nor a frame; for results that are not void.
  [[nodiscard]] bool is_empty() const noexcept { return frame_ == nullptr && !landed_; }
  /// Precondition: the call has ended, and has not failed.
  [[nodiscard]] Stored& value() noexcept {
    if constexpr (can_land<T>) {
      if (frame_ == nullptr) return *landed_;
    }
    return frame_->value();
  }
  /// Precondition: the call has ended.   Errors: what it threw.
  T take() {
    if (frame_ != nullptr) return frame_->take();
    if constexpr (std::is_reference_v<T>) {
      return *value();
    } else if constexpr (!std::is_void_v<T>) {
      return std::move(value());
    }
  }

 private:
  ForkablePromise<T>* frame_ = nullptr;
  std::optional<Landed> landed_;
};

}  // namespace HEIST_NAMESPACE::detail
