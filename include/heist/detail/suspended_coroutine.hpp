// SuspendedCoroutine: all that a loop needs to know about a coroutine that waits.
#pragma once

#include <coroutine>
#include <heist/detail/frame_destruction.hpp>
#include <heist/detail/promise_state.hpp>
#include <heist/detail/scheduling_state.hpp>
#include <heist/error.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// A suspended coroutine of any promise type. It can be resumed, or its frame can be destroyed.
class SuspendedCoroutine {
 public:
  SuspendedCoroutine() noexcept = default;
  template <class Awaiting>
  explicit SuspendedCoroutine(std::coroutine_handle<Awaiting> coroutine) noexcept
      : handle_(coroutine), destroy_(&destroy_frame<Awaiting>) {}

  void resume() const { handle_.resume(); }
  /// Destroys the frame. If the coroutine is heist's, its promise rejects with `why`. `state` is
  /// the scheduling state with which it would have gone on.
  void destroy(const SchedulingState& state,
               const Reason& why = loop_closed_reason()) const noexcept {
    const FrameDestruction destruction(state);
    destroy_(handle_, why);
  }

 private:
  /// A coroutine of heist ends its promise after its frame, so its promise type destroys the frame.
  template <class Awaiting>
  static void destroy_frame(std::coroutine_handle<> coroutine, const Reason& why) noexcept {
    if constexpr (requires(Awaiting& awaiting) {
                    Awaiting::destroy_frame(coroutine, awaiting, why);
                  }) {
      auto& awaiting = std::coroutine_handle<Awaiting>::from_address(coroutine.address()).promise();
      Awaiting::destroy_frame(coroutine, awaiting, why);
    } else {
      coroutine.destroy();
    }
  }

  std::coroutine_handle<> handle_;
  void (*destroy_)(std::coroutine_handle<>, const Reason&) noexcept = nullptr;
};

}  // namespace HEIST_NAMESPACE::detail
