#include "signal_port.hpp"

#include <algorithm>
#include <heist/detail/levels.hpp>
#include <heist/detail/node_memory.hpp>
#include <new>
#include <utility>

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

}  // namespace

const MessageOps PortExtras::table{&drop, &take};
const MessageOps SignalPort::reap_table{&drop_reap, &take_reap};

// PortExtras.

void PortExtras::notify(TaskHome& loop) noexcept {
  std::uint32_t word = notice_.load(sync::edge("notice:mark", sync::seq_cst));
  while ((word & state_mask) == idle) {
    if (!notice_.compare_exchange_weak(word, word | pushing,
                                       sync::edge("notice:mark", sync::seq_cst),
                                       sync::edge("notice:mark", sync::seq_cst))) {
      continue;
    }
    retain(port_.signal());
    loop.send(*this);
    std::uint32_t ours = word | pushing;
    // Fails when the agent has taken the message already. relaxed: nothing is read then.
    notice_.compare_exchange_strong(ours, word | queued, sync::edge("notice:queue", sync::release),
                                    sync::relaxed);
    return;
  }
  if ((word & state_mask) == pushing) loop.request_recheck();
}

void PortExtras::take(LoopNode& node, TaskHome& home) noexcept {
  auto& self = static_cast<PortExtras&>(node);
  std::uint32_t word = self.notice_.load(sync::relaxed);  // relaxed: the CAS checks it again.
  while (!self.notice_.compare_exchange_weak(word, (word & ~state_mask) + version_step,
                                             sync::edge("notice:take", sync::seq_cst),
                                             sync::relaxed)) {  // relaxed: a failure only retries.
  }
  home.take_priority_change(self.port_);
  home.release_later(self.port_.leftovers);
}

void PortExtras::drop(LoopNode& node) noexcept {
  release(static_cast<PortExtras&>(node).port_.signal());
}

// SignalPort.

SignalPort::SignalPort(SignalCore& owner, const SchedulerCore& scheduler) noexcept
    : ReapMessage(reap_table),
      home(Ref<TaskHome>::share(&scheduler.home)),
      leftovers(owner),
      ceiling_(scheduler.ceiling),
      follows_(owner.follows_priority()) {}

SignalPort::~SignalPort() {
  void* const more = take_alone(more_);
  if (more == nullptr || follows_) return;
  home->as_loop() != nullptr ? destroy_node(*static_cast<PortExtras*>(more))
                             : release(*static_cast<SignalQueues*>(more));
}

SignalPort& SignalPort::of_reap_message(LoopNode& node) noexcept {
  return static_cast<SignalPort&>(static_cast<ReapMessage&>(node));
}

TaskPriority SignalPort::priority() const noexcept {
  return std::min(signal().own_scheduling_priority(), ceiling_);
}

void SignalPort::send_priority_change() noexcept { home->change_priority(*this); }

void SignalPort::notify_agent(TaskHome& loop) noexcept {
  PortExtras* extras = find_extras();
  extras != nullptr ? extras->notify(loop) : loop.request_recheck();
}

void SignalPort::reserve_move() {
  if (home->as_loop() != nullptr) return try_reserve_message();
  if (SignalQueues* pair = find_shared_queues()) pair->reserve();
}

/// If there is no memory for the message, the agent will look at all its queues (notify_agent).
void SignalPort::try_reserve_message() noexcept {
  try {
    reserve_continuations();
  } catch (const std::bad_alloc&) {
  }
}

void SignalPort::make_extras() {
  auto* made = make_node<PortExtras>(*this);
  void* none = nullptr;
  if (!more_.compare_exchange_strong(none, made, sync::edge("extras:make", sync::release),
                                     sync::relaxed)) {  // relaxed: whoever needs them finds them.
    destroy_node(*made);
  }
}

SignalQueues& SignalPort::shared_queues() {
  SignalQueues* pair = find_shared_queues();
  return pair != nullptr ? *pair : *make_pair();
}

SignalQueues* SignalPort::make_pair() {
  const TaskPriority now = priority();
  auto made = Ref<SignalQueues>::adopt(
      make_node<SignalQueues>(effective_priority(now, false), effective_priority(now, true)));
  void* pair = nullptr;
  if (!more_.compare_exchange_strong(pair, made.get(), sync::edge("pair:make", sync::seq_cst),
                                     sync::edge("pair:find", sync::seq_cst))) {
    return static_cast<SignalQueues*>(pair);
  }
  return made.detach();
}

void SignalPort::send_reap() noexcept {
  retain(signal());
  home->send_abort(static_cast<ReapMessage&>(*this));
}

void SignalPort::take_reap(LoopNode& node, TaskHome& home) noexcept {
  auto& port = of_reap_message(node);
  home.aborted().append_chain(port.leftovers);
  home.release_later(port.leftovers);
}

void SignalPort::drop_reap(LoopNode& node) noexcept {
  // The home is closed: whoever holds a task of the chain disposes of it, and only the signal's
  // shares are left to drop.
  auto& port = of_reap_message(node);
  SignalLinks* links = port.leftovers.take_chain();
  while (links != nullptr) {
    SignalLinks& first = *std::exchange(links, static_cast<SignalLinks*>(links->chain));
    first.task.task_ops().release_share(first.task);
  }
  release(port.signal());
}

SignalPort& priority_port_of(const ControlledTask& task) noexcept {
  const SignalLinks& links = *task.links;
  if (!task.is_continuation || links.has_one_signal) return links.port->priority_port();
  return *static_cast<const ContinuationTask&>(task).callback().priority_port;
}

DynamicQueue& dynamic_queue_of(ControlledTask& task) noexcept {
  return priority_port_of(task).queue(task.is_continuation);
}

// SignalPorts.

SignalPort& SignalPorts::make(SignalCore& signal, const SchedulerCore& scheduler) {
  SignalPort* port = make_node<SignalPort>(signal, scheduler);
  SignalPort* newest = newest_.load(sync::relaxed);  // relaxed: the CAS checks it again.
  do {
    if (SignalPort* made = find(scheduler)) {
      destroy_node(*port);
      return *made;
    }
    port->next.store(newest, sync::relaxed);  // relaxed: published by the CAS.
  } while (!newest_.compare_exchange_weak(newest, port, sync::edge("signal:attach", sync::seq_cst),
                                          sync::relaxed));  // relaxed: a failure only retries.
  return *port;
}

template <class Visit>
void SignalPorts::each(Visit&& visit) {
  for (SignalPort* port = newest_.load(sync::edge("signal:notify", sync::seq_cst));
       // relaxed: it was set before the port was linked.
       port != nullptr; port = port->next.load(sync::relaxed)) {
    visit(*port);
  }
}

void SignalPorts::reserve_moves() {
  each([](SignalPort& port) { port.reserve_move(); });
}

void SignalPorts::notify_loops() noexcept {
  each([](SignalPort& port) noexcept { port.send_priority_change(); });
}

void SignalPorts::send_reaps() noexcept {
  each([](SignalPort& port) noexcept {
    if (port.leftovers.has_chain()) port.send_reap();
  });
}

void SignalPorts::destroy() noexcept {
  SignalPort* port = take_alone(newest_);
  while (port != nullptr) {
    SignalPort* next = port->next.load(sync::relaxed);  // relaxed: as in take_alone().
    destroy_node(*port);
    port = next;
  }
}

}  // namespace HEIST_NAMESPACE::detail
