#include "suspension_message.hpp"

#include <heist/detail/node_memory.hpp>
#include <utility>

#include "task_home.hpp"

namespace HEIST_NAMESPACE::detail {

const MessageOps SuspensionMessage::table{&drop, &take};

SuspensionMessage::SuspensionMessage(SchedulerCore& target, bool to_suspend)
    : LoopNode(table),
      scheduler(target),
      suspends(to_suspend),
      at(target.home.time().now()),
      delays(to_suspend ? target.make_delays() : nullptr) {}

void SuspensionMessage::take(LoopNode& node, TaskHome& home) noexcept {
  auto& self = static_cast<SuspensionMessage&>(node);
  auto& scheduler = self.scheduler;
  scheduler.set_delays(std::move(self.delays));
  if (self.change >= scheduler.last_change) {
    scheduler.last_change = self.change;
    if (self.suspends) {
      home.waiting().suspend(scheduler, self.at);
    } else if (home.waiting().resume(scheduler, self.at)) {
      home.release_held(scheduler);
    }
  }
  drop(node);
}

void SuspensionMessage::drop(LoopNode& node) noexcept {
  destroy_node(static_cast<SuspensionMessage&>(node));
}

}  // namespace HEIST_NAMESPACE::detail
