#include "limits_to_arm.hpp"

#include <utility>

#include "waiting_tasks.hpp"

namespace HEIST_NAMESPACE::detail {

void LimitsToArm::arm_some(WaitingTasks& into) noexcept {
  TakenNodes taken = inbox_.has_left() ? inbox_.take_left() : inbox_.take_nodes();
  taken.arrive_some(turned_portion, portion, [&into](LoopNode& node) noexcept {
    into.arm(static_cast<SchedulerTask&>(node));
  });
  if (!taken.empty()) {
    inbox_.leave(taken);
  } else if (is_told_ && inbox_.try_sleep()) {
    is_told_ = false;
  }
}

void LimitsToArm::close(WaitingTasks& into) noexcept {
  do arm_some(into);
  while (inbox_.has_left());
  for (LoopNode* node = inbox_.close(); node != nullptr;) {
    into.arm(static_cast<SchedulerTask&>(*std::exchange(node, node->next)));
  }
  is_told_ = false;
}

}  // namespace HEIST_NAMESPACE::detail
