#include <heist/yield_if_urgent.hpp>

#include "../loop/loop_core.hpp"
#include "../signal/signal_core.hpp"

namespace HEIST_NAMESPACE {

using namespace detail;

bool detail::look_for_urgent() noexcept {
  LoopCore* const loop = loop_of_this_thread;
  if (loop == nullptr) return false;
  loop->assert_agent();
  return loop->looks_for_urgent();
}

bool YieldIfUrgent::goes_on() noexcept {
  LoopCore* const loop = loop_of_this_thread;
  if (loop == nullptr) return true;
  loop->assert_agent();
  const SignalCore* const source = loop->on_agent().current.abort_source;
  return (source == nullptr || !source->aborted()) && !loop->looks_for_urgent();
}

}  // namespace HEIST_NAMESPACE
