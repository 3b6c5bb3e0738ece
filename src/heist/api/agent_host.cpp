#include <heist/agent_host.hpp>

#include "../loop/drive_scope.hpp"
#include "../loop/loop_core.hpp"

namespace HEIST_NAMESPACE {

AgentHost::~AgentHost() = default;

void AgentHost::end_wait() noexcept {
  detail::LoopCore* const loop = detail::loop_of_this_thread;
  if (loop == nullptr) return;
  loop->assert_agent();
  loop->end_host_wait();
}

}  // namespace HEIST_NAMESPACE
