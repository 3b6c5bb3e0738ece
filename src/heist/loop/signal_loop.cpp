#include <heist/node_memory.hpp>

#include "cluster_hub.hpp"
#include "loop_core.hpp"
#include "signal_core.hpp"

namespace heist {

namespace {

// notice_: two bits of state, the rest a version.
constexpr std::uint32_t idle = 0;
constexpr std::uint32_t pushing = 1;
constexpr std::uint32_t queued = 2;
constexpr std::uint32_t state_mask = 3;
constexpr std::uint32_t version_step = 4;

SignalLoop& part_of(LoopNode& node) noexcept { return *static_cast<SignalMessage&>(node).part; }

}  // namespace

const LoopNodeOps SignalLoop::priority_table{LoopNodeKind::message, &take_priority_change,
                                             &lose_priority_change};
const LoopNodeOps SignalLoop::reap_table{LoopNodeKind::message, &take_reap, &lose_reap};

SignalLoop::SignalLoop(SignalCore& owner, TaskPriority highest) noexcept
    : signal(&owner),
      ceiling(highest),
      priority_message_(priority_table, *this),
      reap_message_(reap_table, *this) {}

TaskPriority SignalLoop::priority() const noexcept { return std::min(signal->picked(), ceiling); }

void SignalLoop::send_priority_change() noexcept {
  LoopCore* target = loop.load(sync::edge("signal:notify", sync::seq_cst));
  if (target == nullptr) return;
  if (SharedPair* pair = pair_.load(sync::edge("pair:find", sync::seq_cst))) {
    return target->hub()->move(*this, *pair);
  }
  if (target->hub() != nullptr) return;  // no task of it has come yet
  std::uint32_t word = notice_.load(sync::edge("notice:mark", sync::seq_cst));
  while ((word & state_mask) == idle) {
    if (!notice_.compare_exchange_weak(word, word | pushing,
                                       sync::edge("notice:mark", sync::seq_cst),
                                       sync::edge("notice:mark", sync::seq_cst))) {
      continue;
    }
    retain(*signal);
    target->send(priority_message_);
    std::uint32_t ours = word | pushing;
    // Fails when the agent has taken the message already. relaxed: nothing is read then.
    notice_.compare_exchange_strong(ours, word | queued, sync::edge("notice:queue", sync::release),
                                    sync::relaxed);
    return;
  }
  if ((word & state_mask) == pushing) target->request_recheck();
}

void SignalLoop::reserve_move() {
  if (SharedPair* pair = pair_.load(sync::edge("pair:find", sync::seq_cst))) pair->reserve();
}

SharedPair& SignalLoop::shared_pair() {
  SharedPair* pair = pair_.load(sync::edge("pair:find", sync::seq_cst));
  if (pair == nullptr) pair = make_pair();
  if (pair->is_new()) {  // its maker may have been stopped here
    pair->reserve();
    // relaxed: set before this part was found.
    loop.load(sync::relaxed)->hub()->move(*this, *pair);
  }
  return *pair;
}

SharedPair* SignalLoop::make_pair() {
  const TaskPriority now = priority();
  auto made = Ref<SharedPair>::adopt(
      make_node<SharedPair>(effective_priority(now, false), effective_priority(now, true)));
  SharedPair* pair = nullptr;
  if (!pair_.compare_exchange_strong(pair, made.get(), sync::edge("pair:make", sync::seq_cst),
                                     sync::edge("pair:find", sync::seq_cst))) {
    return pair;
  }
  return made.detach();
}

void SignalLoop::take_priority_change(LoopNode& node, LoopCore& loop) noexcept {
  auto& part = part_of(node);
  std::uint32_t word = part.notice_.load(sync::relaxed);  // relaxed: the CAS checks it again.
  while (!part.notice_.compare_exchange_weak(word, (word & ~state_mask) + version_step,
                                             sync::edge("notice:take", sync::seq_cst),
                                             sync::relaxed)) {  // relaxed: a failure only retries.
  }
  loop.assert_agent();
  loop.refresh_priority(part);
  loop.release_later(part);
}

void SignalLoop::lose_priority_change(LoopNode& node) noexcept { release(*part_of(node).signal); }

void SignalLoop::append_to_reap(ControlledTask& task) noexcept {
  if (reap_head == nullptr) {
    reap_head = &task;
  } else {
    reap_tail->chain = &task;
  }
  reap_tail = &task;
}

void SignalLoop::send_reap() noexcept {
  LoopCore* target = loop.load(sync::edge("signal:notify", sync::seq_cst));
  retain(*signal);
  target->send_abort(reap_message_);
}

void SignalLoop::take_reap(LoopNode& node, LoopCore& loop) noexcept {
  loop.assert_agent();
  loop.reap_later(part_of(node));
  loop.release_later(part_of(node));
}

void SignalLoop::lose_reap(LoopNode& node) noexcept {
  // The loop is closed: whoever holds a task of the chain disposes of it; only our shares are left.
  auto& part = part_of(node);
  while (part.reap_head != nullptr) {
    ControlledTask* task = part.reap_head;
    part.reap_head = static_cast<ControlledTask*>(task->chain);
    task->task_ops().unregister(*task);
  }
  release(*part.signal);
}

}  // namespace heist
