#include <heist/error.hpp>
#include <heist/promise_state.hpp>
#include <heist/scheduler.hpp>

#include "loop_core.hpp"

namespace heist {

namespace {

constexpr LoopNodeOps no_ops{LoopNodeKind::microtask, nullptr, nullptr};

/// A plain thread that waits for a promise. Shared by the waiter and the promise's reaction list.
class ThreadWaiter : public Reaction {
 public:
  ThreadWaiter() noexcept : Reaction(table) {}

  bool wait(std::optional<Parker::Clock::time_point> deadline) noexcept {
    while (woken_.load(sync::edge("waiter:wait", sync::acquire)) == 0) {
      if (deadline && Parker::Clock::now() >= *deadline) return false;
      wait_on_word(woken_, 0, deadline);
    }
    return true;
  }

  friend void release(ThreadWaiter& waiter) noexcept {
    if (waiter.shares_.drop()) destroy_node(waiter);
  }

 private:
  static void wake(LoopNode& node) noexcept {
    auto& self = static_cast<ThreadWaiter&>(static_cast<Reaction&>(node));
    self.woken_.store(1, sync::edge("waiter:wake", sync::release));
    wake_word(self.woken_);
    release(self);
  }
  /// It has no loop, so it is "dropped" by the settling thread: that is the wake-up.
  static constexpr LoopNodeOps table{LoopNodeKind::microtask, nullptr, &wake};

  sync::atomic<std::uint32_t> woken_{0};
  RefCount shares_{2};
};

void refuse_wait_on(const LoopCore* home) {
  if (home != nullptr && home == current_loop()) {
    throw NotAllowedError("waiting here would never end: only this agent can settle the promise");
  }
}

}  // namespace

const Reason& loop_closed_reason() noexcept {
  static const Reason reason{InvalidStateError("the event loop is closed")};
  return reason;
}

void Reaction::bind_to_current_loop() {
  LoopCore* current = current_loop();
  if (current == nullptr) {
    throw NotAllowedError("no event loop runs on this thread: name a scheduler");
  }
  loop = Ref<LoopCore>::share(current);
  captured = CapturedState(current->on_agent().current);
}

void Reaction::bind_to(const Scheduler& scheduler) {
  loop = scheduler.loop();
  captured = CapturedState(SchedulingState{.scheduler = scheduler.core()});
}

void deliver(Reaction& reaction) noexcept {
  // Kept here: once sent, the reaction may be gone, and the loop with it.
  const Ref<LoopCore> loop = std::move(reaction.loop);
  if (!loop) return reaction.ops->drop(reaction);
  if (loop.get() == current_loop()) return loop->on_agent().microtasks.push(reaction);
  loop->send(reaction);
}

PromiseStateBase::PromiseStateBase(void (*destroy)(PromiseStateBase&) noexcept,
                                   std::uint32_t shares) noexcept
    : shares_(shares), destroy_(destroy) {}

Reaction* PromiseStateBase::settled_mark() noexcept {
  static Reaction mark(no_ops);
  return &mark;
}

void PromiseStateBase::settle_rejected(Reason reason, bool by_abort) noexcept {
  reason_ = std::move(reason);
  by_abort_ = by_abort;
  settle(PromiseStatus::rejected);
}

void PromiseStateBase::settle(PromiseStatus status) noexcept {
  status_ = status;
  Reaction* newest =
      reactions_.exchange(settled_mark(), sync::edge("promise:settle", sync::acq_rel));
  Reaction* oldest = nullptr;
  while (newest != nullptr) {
    auto* older = static_cast<Reaction*>(newest->next);
    newest->next = oldest;
    oldest = newest;
    newest = older;
  }
  while (oldest != nullptr) {
    auto* next = static_cast<Reaction*>(oldest->next);
    deliver(*oldest);
    oldest = next;
  }
}

void PromiseStateBase::attach(Reaction& reaction) noexcept {
  Reaction* head = reactions_.load(sync::edge("promise:observe", sync::acquire));
  do {
    if (head == settled_mark()) return deliver(reaction);
    reaction.next = head;
  } while (!reactions_.compare_exchange_weak(head, &reaction,
                                             sync::edge("promise:react", sync::release),
                                             sync::edge("promise:observe", sync::acquire)));
}

void PromiseStateBase::destroy_last() noexcept {
  if (is_settled() && status_ == PromiseStatus::rejected && !by_abort_ &&
      !handled_.load(sync::relaxed) && reason_.exception()) {  // relaxed: ordered by RefCount.
    report_error(ErrorOrigin::unobserved_rejection, reason_);
  }
  destroy_(*this);
}

void PromiseStateBase::wait() {
  if (!is_settled()) static_cast<void>(wait_until(std::nullopt));
}

bool PromiseStateBase::wait_for(std::chrono::nanoseconds timeout) {
  return is_settled() || wait_until(Parker::Clock::now() + timeout);
}

bool PromiseStateBase::wait_until(std::optional<std::chrono::steady_clock::time_point> deadline) {
  refuse_wait_on(home_);
  auto* waiter = make_node<ThreadWaiter>();
  attach(*waiter);
  const bool settled = waiter->wait(deadline);
  release(*waiter);
  return settled || is_settled();
}

}  // namespace heist
