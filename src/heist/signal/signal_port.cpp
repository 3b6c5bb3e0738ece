#include "signal_port.hpp"

#include <algorithm>
#include <heist/detail/levels.hpp>
#include <heist/detail/node_memory.hpp>

#include "../cluster/queues/signal_queues.hpp"
#include "../task/task_home.hpp"
#include "continuation.hpp"
#include "dependent_signal.hpp"
#include "signal_core.hpp"
#include "take_alone.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

// notice_ has two bits of state; the rest is a version.
constexpr std::uint32_t idle = 0;
constexpr std::uint32_t pushing = 1;
constexpr std::uint32_t queued = 2;
constexpr std::uint32_t state_mask = 3;
constexpr std::uint32_t version_step = 4;

SignalPort& part_of(LoopNode& node) noexcept { return *static_cast<SignalMessage&>(node).part; }

}  // namespace

const MessageOps SignalPort::priority_table{&drop_priority_change, &take_priority_change};
const MessageOps SignalPort::reap_table{&drop_reap, &take_reap};

SignalPort::SignalPort(SignalCore& owner, TaskPriority highest) noexcept
    : ceiling(highest),
      leftovers(owner),
      priority_message_(priority_table, *this),
      reap_message_(reap_table, *this) {}

void SignalPort::drop_contents() noexcept {
  if (SignalQueues* pair = take_alone(pair_)) release(*pair);
  if (TaskHome* target = take_alone(home)) release(*target);
}

TaskPriority SignalPort::priority() const noexcept {
  return std::min(signal().own_scheduling_priority(), ceiling);
}

void SignalPort::send_priority_change() noexcept {
  TaskHome* target = home.load(sync::edge("signal:notify", sync::seq_cst));
  if (target != nullptr) target->change_priority(*this);
}

void SignalPort::notify_agent(TaskHome& loop) noexcept {
  std::uint32_t word = notice_.load(sync::edge("notice:mark", sync::seq_cst));
  while ((word & state_mask) == idle) {
    if (!notice_.compare_exchange_weak(word, word | pushing,
                                       sync::edge("notice:mark", sync::seq_cst),
                                       sync::edge("notice:mark", sync::seq_cst))) {
      continue;
    }
    retain(signal());
    loop.send(priority_message_);
    std::uint32_t ours = word | pushing;
    // Fails when the agent has taken the message already. relaxed: nothing is read then.
    notice_.compare_exchange_strong(ours, word | queued, sync::edge("notice:queue", sync::release),
                                    sync::relaxed);
    return;
  }
  if ((word & state_mask) == pushing) loop.request_recheck();
}

void SignalPort::reserve_move() {
  if (SignalQueues* pair = find_shared_queues()) pair->reserve();
}

SignalQueues& SignalPort::shared_queues() {
  SignalQueues* pair = find_shared_queues();
  return pair != nullptr ? *pair : *make_pair();
}

SignalQueues* SignalPort::make_pair() {
  const TaskPriority now = priority();
  auto made = Ref<SignalQueues>::adopt(
      make_node<SignalQueues>(effective_priority(now, false), effective_priority(now, true)));
  SignalQueues* pair = nullptr;
  if (!pair_.compare_exchange_strong(pair, made.get(), sync::edge("pair:make", sync::seq_cst),
                                     sync::edge("pair:find", sync::seq_cst))) {
    return pair;
  }
  return made.detach();
}

void SignalPort::take_priority_change(LoopNode& node, TaskHome& home) noexcept {
  auto& part = part_of(node);
  std::uint32_t word = part.notice_.load(sync::relaxed);  // relaxed: the CAS checks it again.
  while (!part.notice_.compare_exchange_weak(word, (word & ~state_mask) + version_step,
                                             sync::edge("notice:take", sync::seq_cst),
                                             sync::relaxed)) {  // relaxed: a failure only retries.
  }
  home.take_priority_change(part);
  home.release_later(part.leftovers);
}

void SignalPort::drop_priority_change(LoopNode& node) noexcept { release(part_of(node).signal()); }

void SignalPort::send_reap() noexcept {
  TaskHome* target = home.load(sync::edge("signal:notify", sync::seq_cst));
  retain(signal());
  target->send_abort(reap_message_);
}

void SignalPort::take_reap(LoopNode& node, TaskHome& home) noexcept {
  home.aborted().append_chain(part_of(node).leftovers);
  home.release_later(part_of(node).leftovers);
}

void SignalPort::drop_reap(LoopNode& node) noexcept {
  // The home is closed: whoever holds a task of the chain disposes of it, and only the signal's
  // shares are left to drop.
  auto& part = part_of(node);
  while (ControlledTask* task = part.leftovers.head) {
    part.leftovers.head = static_cast<ControlledTask*>(task->chain);
    task->task_ops().release_share(*task);
  }
  release(part.signal());
}

SignalPort& priority_part_of(const ControlledTask& task) noexcept {
  if (!task.is_continuation) return task.signal_port->priority_part();
  return *static_cast<const ContinuationTask&>(task).callback().priority_part;
}

DynamicQueue& dynamic_queue_of(ControlledTask& task) noexcept {
  return priority_part_of(task).queues[task.is_continuation ? 1 : 0];
}

}  // namespace HEIST_NAMESPACE::detail
