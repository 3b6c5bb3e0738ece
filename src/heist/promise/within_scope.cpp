#include <heist/detail/within_scope.hpp>

#include "../loop/drive_scope.hpp"

namespace HEIST_NAMESPACE::detail {

const WithinScope*& WithinScope::innermost_here() noexcept {
  static thread_local constinit const WithinScope* innermost = nullptr;
  return innermost;
}

const WithinScope*& WithinScope::innermost_of_task() noexcept {
  LoopCore& loop = *loop_of_this_thread;
  loop.on_agent().current.is_of_scope = true;
  return innermost_here();
}

bool WithinScope::is_here(const SignalCore& of) noexcept {
  for (const WithinScope* at = innermost_here(); at != nullptr; at = at->outer_) {
    if (at->of_ == &of) return true;
  }
  return find_driven([&](const LoopCore& loop) {
           const SchedulingState& state = loop.state_here();
           return state.is_of_scope && state.abort_source == &of;
         }) != nullptr;
}

}  // namespace HEIST_NAMESPACE::detail
