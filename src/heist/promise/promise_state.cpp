#include <algorithm>
#include <array>
#include <chrono>
#include <heist/detail/access.hpp>
#include <heist/detail/promise_state.hpp>
#include <heist/detail/report_error.hpp>
#include <heist/error.hpp>
#include <heist/scheduler.hpp>
#include <string>
#include <utility>

#include "../concurrent/lasting_reason.hpp"
#include "../loop/agent_wait.hpp"
#include "../loop/drive_scope.hpp"
#include "../loop/loop_core.hpp"
#include "../os/cpu_limit.hpp"
#include "../os/fork_watch.hpp"
#include "../os/parker.hpp"
#include "../os/spin_rule.hpp"
#include "../signal/signal_core.hpp"
#include "drops.hpp"
#include "late_drops.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

constexpr LoopNodeOps no_ops{LoopNodeKind::microtask, nullptr, nullptr};

// Values of PromiseStateBase::waiting_.
constexpr std::uint32_t someone_waits = 1;
constexpr std::uint32_t wake_up = 2;

void refuse_wait_on(const TaskHome* home) {
  if (home != nullptr && drives_here(home)) {
    throw NotAllowedError("waiting here would never end: only this agent can settle the promise");
  }
  if (ForkWatch::has_lost(home)) {
    throw NotAllowedError(
        "waiting here would never end: after fork() only the parent process has the agent");
  }
}

}  // namespace

const Reason& loop_closed_reason() noexcept {
  static const LastingReason reason{InvalidStateError("the event loop is closed")};
  return reason.get();
}

const Reason& agent_lost_reason() noexcept {
  static const LastingReason reason{InvalidStateError(
      "after fork() only the parent process has this scheduler's agent: make one in the child")};
  return reason.get();
}

const Reason& close_abort_reason() noexcept {
  static const LastingReason reason{
      AbortError("the event loop was closed before the task could finish")};
  return reason.get();
}

const Reason& task_cancelled_reason() noexcept {
  static const LastingReason reason{AbortError("the cooperative task was cancelled")};
  return reason.get();
}

const Reason& resolver_dropped_reason() noexcept {
  static const LastingReason reason{InvalidStateError("the resolver of this promise was dropped")};
  return reason.get();
}

const Reason& follows_itself_reason() noexcept {
  static const LastingReason reason{InvalidStateError("a promise cannot follow itself")};
  return reason.get();
}

const Reason& queue_full_reason() noexcept {
  static const LastingReason reason{
      QuotaExceededError("as many tasks as the scheduler's bound allows are waiting")};
  return reason.get();
}

const Reason& no_reason_given() noexcept {
  static const LastingReason reason{std::string("rejected without a reason")};
  return reason.get();
}

const Reason& moved_from_reason() noexcept {
  static const LastingReason reason{
      InvalidStateError("the handle of the promise had been moved from")};
  return reason.get();
}

namespace {

/// These reasons are made before main, so that closing, dropping and catching never allocate
/// (LIF-4).
[[maybe_unused]] const std::array made_ahead{&loop_closed_reason(),    &close_abort_reason(),
                                             &follows_itself_reason(), &resolver_dropped_reason(),
                                             &no_reason_given(),       &moved_from_reason(),
                                             &queue_full_reason(),     &agent_lost_reason(),
                                             &task_cancelled_reason(), &Reason::out_of_memory()};

}  // namespace

namespace {

LoopCore& current_loop_or_throw() {
  LoopCore* current = current_loop();
  if (current == nullptr) {
    throw NotAllowedError("no event loop runs on this thread: name a scheduler");
  }
  return *current;
}

}  // namespace

TaskHome* current_home() noexcept {
  LoopCore* current = current_loop();
  if (current == nullptr) return nullptr;
  const SchedulerCore* scheduler = current->on_agent().current.scheduler;
  return scheduler != nullptr ? &scheduler->home : current;
}

void Reaction::bind_to_current_loop() {
  LoopCore& current = current_loop_or_throw();
  const SchedulingState& state = current.on_agent().current;
  if (state.scheduler != nullptr) return bind_to(state);
  home = Ref<TaskHome>::share(&current);
  captured = CapturedState(state);
}

void Reaction::bind_to(const SchedulingState& state) {
  TaskHome& target = state.scheduler->home;
  if (state.priority_source != nullptr) target.reserve_place(*this, state);
  home = Ref<TaskHome>::share(&target);
  captured = CapturedState(state);
}

void Reaction::bind_to_current_agent() {
  LoopCore& current = current_loop_or_throw();
  home = Ref<TaskHome>::share(&current);
  captured = CapturedState(current.on_agent().current);
}

void Reaction::bind_to(const Scheduler& scheduler) {
  Access::check_valid(scheduler, "Promise::then: the scheduler");
  home = Access::home(scheduler);
  SchedulerCore& core = *Access::core(scheduler);
  captured = CapturedState(
      SchedulingState{.scheduler = &core, .priority = core.capped(TaskPriority::user_visible)});
}

bool Reaction::bind_to_cluster_of(const PromiseStateBase& promise) noexcept {
  TaskHome* const settler = promise.settler();
  if (settler == nullptr || settler->as_loop() != nullptr) return false;
  home = Ref<TaskHome>::share(settler);
  captured = {};
  return true;
}

namespace {

/// What this thread still has to drop, oldest first.
thread_local constinit MicrotaskQueue undeliverable;

void drop_all_undeliverable() noexcept {
  while (!undeliverable.empty()) {
    LoopNode& next = undeliverable.pop();
    next.ops->drop(next);
  }
}

thread_local constinit const LateDrops* innermost_drops = nullptr;

}  // namespace

LateDrops::LateDrops() noexcept
    : outer_(std::exchange(innermost_drops, this)), on_(loop_of_this_thread) {}

LateDrops::~LateDrops() {
  if (outer_ == nullptr || outer_->on_ != on_) drop_all_undeliverable();
  innermost_drops = outer_;
}

/// Drops a node whose loop is closed. A drop may settle a promise whose reactions are dropped in
/// turn. The outermost call drops them all, so that a long chain takes no stack.
void drop_undeliverable(LoopNode& node) noexcept {
  if (node.ops->kind == LoopNodeKind::message) return node.ops->drop(node);  // it takes no stack
  const LateDrops now;
  undeliverable.push(node);
}

namespace {

/// Whether a reaction runs as a microtask of the loop that settles its promise, and not by way of
/// its home.
bool stays_here(const Reaction& reaction, const TaskHome* home, const LoopCore& here) noexcept {
  return home == &here || (reaction.follows_settler && here.is_member_of(*home));
}

/// Posts a reaction to its home. Returns false when that is closed, when there is none, or when the
/// reaction ends here and now; it is still the caller's then. No user code runs here.
bool try_deliver(Reaction& reaction) noexcept {
  // The home is kept here: once it was delivered, the reaction may be gone, and its home with it.
  Ref<TaskHome> home = std::move(reaction.home);
  LoopCore* here = current_loop();
  if (here == nullptr || !stays_here(reaction, home.get(), *here)) {
    return home && home->deliver(reaction);
  }
  if (reaction.ends_at_once) return false;
  here->assert_agent();
  if (home.get() != here) reaction.home = std::move(home);  // see LoopCore::give_to_cluster()
  here->push_microtask(reaction);
  return true;
}

}  // namespace

void deliver(Reaction& reaction) noexcept {
  if (!try_deliver(reaction)) drop_undeliverable(reaction);
}

LoopNode* PromiseStateBase::settled_mark() noexcept {
  static constinit LoopNode mark(no_ops);
  return &mark;
}

void PromiseStateBase::settle_rejected(Reason reason, bool by_abort) noexcept {
  if (!reason) reason = no_reason_given();
  reason_ = std::move(reason);
  by_abort_ = by_abort;
  settle(PromiseStatus::rejected);
}

void PromiseStateBase::settle(PromiseStatus status) noexcept {
  status_.store(status, sync::edge("promise:settle", sync::seq_cst));
  if (waiting_.load(sync::edge("promise:settle", sync::seq_cst)) == someone_waits) wake_waiters();
  LoopNode* undelivered = nullptr;
  LoopNode* none = nullptr;
  while (!reactions_.compare_exchange_strong(none, settled_mark(),
                                             sync::edge("promise:deliver", sync::release),
                                             sync::relaxed)) {  // relaxed: they are taken below.
    undelivered = deliver_reactions(undelivered);
    none = nullptr;
  }
  // The promise may be gone from here on.
  if (undelivered == nullptr) return;
  const LateDrops now;
  for (LoopNode* node = oldest_first(undelivered); node != nullptr;) {
    undeliverable.push(*std::exchange(node, node->next));
  }
}

/// Delivers the reactions that are attached by now, oldest first. Those of closed loops are added
/// to the list instead, newest first, and so are those that end at once.
LoopNode* PromiseStateBase::deliver_reactions(LoopNode* undelivered) noexcept {
  LoopNode* oldest =
      oldest_first(reactions_.exchange(nullptr, sync::edge("promise:collect", sync::acquire)));
  while (oldest != nullptr) {
    LoopNode* next = oldest->next;
    if (!try_deliver(static_cast<Reaction&>(*oldest))) {
      oldest->next = std::exchange(undelivered, oldest);
    }
    oldest = next;
  }
  return undelivered;
}

void PromiseStateBase::wake_waiters() noexcept {
  waiting_.store(wake_up, sync::relaxed);  // relaxed: waiters look at status_.
  wake_all_on_word(waiting_);
}

void PromiseStateBase::attach(Reaction& reaction) noexcept {
  mark_handled();
  LoopNode* head = reactions_.load(sync::edge("promise:observe", sync::acquire));
  do {
    if (head == settled_mark()) return deliver(reaction);
    reaction.next = head;
  } while (!reactions_.compare_exchange_weak(head, &reaction,
                                             sync::edge("promise:react", sync::release),
                                             sync::edge("promise:observe", sync::acquire)));
}

void PromiseStateBase::destroy_last() noexcept {
  const bool handled = handled_.load(sync::relaxed);  // relaxed: ordered by RefCount.
  if (status() == PromiseStatus::rejected && !by_abort_ && !handled && reason_.is_error()) {
    report_error(ErrorOrigin::unobserved_rejection, reason_);
  }
  destroy_(*this);
}

void PromiseStateBase::wait() {
  if (!is_settled()) static_cast<void>(wait_until(std::nullopt, Limit::none));
}

bool PromiseStateBase::wait_a_while(std::chrono::nanoseconds pause) {
  return is_settled() || wait_until(Parker::Clock::now() + pause, Limit::none);
}

bool PromiseStateBase::wait_for(Delay timeout) {
  if (is_settled()) return true;
  if (timeout.is_never()) return wait_until(std::nullopt, Limit::none);
  return wait_until(Parker::Clock::now() + timeout.value(), Limit::deadline);
}

namespace {

/// How long a thread looks at a promise before it sleeps. Results that come one after the other
/// would each cost it a sleep, and whoever settles them a wake-up.
std::chrono::nanoseconds spin_of_waits() noexcept {
#if defined(HEIST_MODEL)
  return {};
#else
  return std::chrono::microseconds(available_cpus() > 1 ? 10 : 0);
#endif
}

/// Whether the promise settles while the calling thread looks at it before it sleeps.
bool settles_soon(const PromiseStateBase& promise,
                  std::optional<std::chrono::steady_clock::time_point> deadline) noexcept {
  thread_local SpinRule rule(spin_of_waits());
  LoopCore* const here = loop_of_this_thread;
  if (!rule.spins() || (here != nullptr && !here->sleep().spin().spins())) return false;
  const auto begin = SpinRule::Clock::now();
  if (deadline && *deadline <= begin) return false;  // a look, which says nothing of waits
  const auto spun = begin + rule.begin_wait(begin);
  const auto end = deadline ? std::min(*deadline, spun) : spun;
  while (SpinRule::Clock::now() < end) {
    if (promise.is_settled()) return true;
    spin_pause();
  }
  return false;
}

}  // namespace

bool PromiseStateBase::wait_until(std::optional<std::chrono::steady_clock::time_point> deadline,
                                  Limit limit) {
  if (const LoopCore* member = member_here()) member->membership()->drop_before_wait();
  // If the thread drops something at the moment, what settles the promise may stand behind that.
  Drops::drop_behind();
  drop_all_undeliverable();
  if (is_settled()) return true;
  refuse_wait_on(home_);
  if (LoopCore* member = member_here()) member->give_to_cluster();
  if (settles_soon(*this, deadline)) return true;
  std::optional<AgentWaiting> waiting;
  if (limit == Limit::none) waiting.emplace(*this, home_);
  std::uint32_t nobody = 0;
  // This fails when others wait already, which serves as well.
  waiting_.compare_exchange_strong(nobody, someone_waits, sync::edge("promise:wait", sync::seq_cst),
                                   sync::edge("promise:wait", sync::seq_cst));
  while (status_.load(sync::edge("promise:wait", sync::seq_cst)) == PromiseStatus::pending) {
    if (deadline && Parker::Clock::now() >= *deadline) return false;
    const auto look_at = waiting ? waiting->look_at() : std::nullopt;
    wait_on_word(waiting_, someone_waits, deadline ? deadline : look_at);
    if (look_at && !deadline && Parker::Clock::now() >= *look_at) waiting->look();
  }
  return true;
}

}  // namespace HEIST_NAMESPACE::detail
