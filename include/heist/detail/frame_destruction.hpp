// FrameDestruction: says that the calling thread destroys the frame of a coroutine that waits.
#pragma once

#include <heist/detail/export.hpp>
#include <heist/detail/scheduling_state.hpp>
#include <heist/detail/within_scope.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// A scope in which the calling thread destroys the frame of a suspended coroutine, as its loop is
/// closed. Destructors of what is in the frame must not throw then, as for a stack that unwinds;
/// but no exception is in flight, so std::uncaught_exceptions() does not tell them.
class HEIST_EXPORT FrameDestruction {
 public:
  /// `state` is that of the coroutine: what the frame holds may be a scope whose task it is.
  explicit FrameDestruction(const SchedulingState& state) noexcept;
  FrameDestruction(const FrameDestruction&) = delete;
  FrameDestruction& operator=(const FrameDestruction&) = delete;
  ~FrameDestruction();

  /// How many of these the calling thread is within. What was made within fewer lies in a frame
  /// that goes, or on a stack around it.
  [[nodiscard]] static int count_here() noexcept;

 private:
  const WithinScope within_;
};

}  // namespace HEIST_NAMESPACE::detail
