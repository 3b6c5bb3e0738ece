// PromiseState: the shared state behind Promise handles, and the reactions registered with it.
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <heist/delay.hpp>
#include <heist/detail/copyable.hpp>
#include <heist/detail/durations.hpp>
#include <heist/detail/export.hpp>
#include <heist/detail/loop_node.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/scheduling_state.hpp>
#include <heist/detail/sync.hpp>
#include <heist/error.hpp>
#include <heist/version.hpp>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE {

/// What a promise is: not settled yet, settled with a value, settled with a reason.
///
/// It has 32 bits because it is an argument of the library (detail::TaskOutcome says why).
enum class PromiseStatus : std::uint32_t { pending, fulfilled, rejected };

}  // namespace HEIST_NAMESPACE

namespace HEIST_NAMESPACE::detail {

/// The loop that runs on the calling thread, or null.
[[nodiscard]] HEIST_EXPORT LoopCore* current_loop() noexcept;
/// The home on which the running task or coroutine goes on: the thread's own loop or, for a
/// stealable task, its cluster. Null if no loop runs on this thread.
[[nodiscard]] HEIST_EXPORT TaskHome* current_home() noexcept;

/// Why promises of a closed loop reject (InvalidStateError). It is made once, so that closing never
/// allocates.
[[nodiscard]] HEIST_EXPORT const Reason& loop_closed_reason() noexcept;
/// Why a child of fork cannot post where its parent's agent runs (InvalidStateError).
[[nodiscard]] HEIST_EXPORT const Reason& agent_lost_reason() noexcept;
/// Why a close rejects what it drops (AbortError); made once as well.
[[nodiscard]] HEIST_EXPORT const Reason& close_abort_reason() noexcept;
/// Why the coroutine of a cancelled cooperative task rejects (AbortError); made once as well.
[[nodiscard]] HEIST_EXPORT const Reason& task_cancelled_reason() noexcept;
/// Why a promise rejects whose resolver was dropped (InvalidStateError).
[[nodiscard]] HEIST_EXPORT const Reason& resolver_dropped_reason() noexcept;
/// Why a promise rejects that was told to follow itself (InvalidStateError).
[[nodiscard]] HEIST_EXPORT const Reason& follows_itself_reason() noexcept;
[[nodiscard]] HEIST_EXPORT const Reason& queue_full_reason() noexcept;
/// Stands for an empty reason (a plain value): a rejected promise always has one.
[[nodiscard]] HEIST_EXPORT const Reason& no_reason_given() noexcept;
/// Why a promise rejects that was to follow a moved-from handle (InvalidStateError).
[[nodiscard]] HEIST_EXPORT const Reason& moved_from_reason() noexcept;

class PromiseStateBase;

/// Something to run once a promise settles: a continuation on the loop that registered it.
///
/// Spec: the reactions and microtasks of contract PRO-1, YLD-3 and YLD-4.
struct HEIST_EXPORT Reaction : LoopNode {
  explicit Reaction(const LoopNodeOps& table) noexcept : LoopNode(table) {}

  /// Where the reaction runs. Without a home it does not run: the settler drops it, once it has
  /// delivered the others.
  Ref<TaskHome> home;
  /// The scheduling state it runs with.
  CapturedState captured;
  /// For a stealable reaction whose priority may change: its place in the signal's queue.
  SignalQueueEntryOwner cell;

  /// Whether the reaction is a part of the work that settles its promise. Then, if an agent of the
  /// reaction's cluster settles the promise, the reaction runs on that agent, as a microtask.
  bool follows_settler = false;
  /// Whether the reaction only ends something, and so need not be a microtask. Then, if an agent of
  /// its home settles the promise, the reaction is dropped there as soon as the others are
  /// delivered. (Whoever waits on that agent for that end would wait for its microtasks as well,
  /// which come later.)
  bool ends_at_once = false;

  /// Binds the reaction to the calling thread's loop (in a stealable task, to its cluster) and to
  /// the current scheduling state.
  /// Errors: NotAllowedError when no loop runs on this thread; std::bad_alloc.
  void bind_to_current_loop();
  /// The same, but always to the thread's own loop.   Errors: NotAllowedError.
  void bind_to_current_agent();
  /// Binds the reaction to the loop of a state's scheduler, with that state.   Errors:
  /// std::bad_alloc.
  void bind_to(const SchedulingState& state);
  /// Binds the reaction to the loop of a scheduler, with that scheduler's initial state.
  void bind_to(const Scheduler& scheduler);
  /// If only the agents of one cluster can settle the promise, binds the reaction to that cluster,
  /// with no scheduling state. Returns false, and does not bind it, if there is no such cluster.
  /// Precondition: if there is such a cluster, the caller is one of its agents.
  [[nodiscard]] bool bind_to_cluster_of(const PromiseStateBase& promise) noexcept;
};

/// The part of a promise's shared state that does not depend on the type of its value.
///
/// Roles   settler: the one thread that owns the right to settle.  observer: any thread.
/// States  status_: pending, then the outcome for good. reactions_: null or a list;
///         `settled_mark()` for good once all of them are delivered.
/// I1      Everything but the atomics is written before settle(), and only read after it.
/// I2      Reactions are delivered in the order in which they were attached. While the settler
///         delivers, new ones join the list. Only after settled_mark() is stored does attach()
///         deliver them itself.
/// I3      No user code runs while the settler delivers: reactions of closed loops, those without a
///         home, and those that end at once, are dropped after.
/// Edge promise: settle -> observe, wait. Carries the outcome.
/// Edge promise: deliver -> observe. All deliveries happened before an observer finds
///   settled_mark().
/// Edge promise: react -> collect. Carries the reaction and its captured state.
/// Edge promise: wait <-> settle. A waiting thread stores waiting_, then looks at status_; the
///   settler stores status_, then looks at waiting_. All four are seq_cst, so either the thread
///   sees that the promise is settled, or the settler sees that the thread waits.
/// Reclamation  handles are counted; the last one destroys the value and then the owner's memory.
/// Progress  attach lock-free; settle lock-free: it goes on while others attach.
/// Proof   stress/settle_await_stress.cpp
class HEIST_EXPORT PromiseStateBase {
 public:
  /// `shares` is the number of handles at the beginning, the settler's own included.
  PromiseStateBase(void (*destroy)(PromiseStateBase&) noexcept, std::uint32_t shares) noexcept
      : shares_(shares), destroy_(destroy) {}
  PromiseStateBase(const PromiseStateBase&) = delete;
  PromiseStateBase& operator=(const PromiseStateBase&) = delete;

  [[nodiscard]] PromiseStatus status() const noexcept {
    return status_.load(sync::edge("promise:observe", sync::acquire));
  }
  [[nodiscard]] bool is_settled() const noexcept { return status() != PromiseStatus::pending; }

  /// Settles with the value that the typed part already holds.
  void settle_fulfilled() noexcept { settle(PromiseStatus::fulfilled); }
  /// Does the same for a settler that has a handle. If that is the only one, nobody is told.
  void settle_fulfilled_as_holder() noexcept {
    if (!is_alone()) return settle_fulfilled();
    status_.store(PromiseStatus::fulfilled, sync::relaxed);  // relaxed: nobody else has a handle.
  }

  /// Settles with a reason. A rejection `by_abort` is never reported as unobserved (PRO-3).
  void settle_rejected(Reason reason, bool by_abort) noexcept;

  /// Adds a bound reaction. If the promise is settled already, delivers it to its loop at once.
  /// This counts as observing the promise.
  void attach(Reaction& reaction) noexcept;

  /// Called by the last holder: destroys the reason before the memory goes, unless an aborter is
  /// about to settle.
  void discard_reason() noexcept {
    if (is_settled()) reason_ = {};
  }

  /// Preconditions: settled.
  [[nodiscard]] const Reason& reason() const noexcept { return reason_; }
  [[nodiscard]] bool is_abort() const noexcept { return by_abort_; }

  /// Notes that somebody looks at the outcome. A rejection is then not "unobserved".
  void mark_handled() noexcept {
    // relaxed: only read by the last holder, which RefCount orders after every other.
    handled_.store(true, sync::relaxed);
  }

  /// Blocks the calling thread until settled.
  ///
  /// Errors: NotAllowedError on an agent when only that agent could settle it (CLU-5).
  void wait();
  /// As wait(), no longer than the given time; true when settled.
  [[nodiscard]] bool wait_for(Delay timeout);
  /// A part of a wait that has no limit, and is refused like one (CLU-5). Returns whether the
  /// promise has settled.
  [[nodiscard]] bool wait_a_while(std::chrono::nanoseconds pause);

  /// Sets the only loop or cluster that can settle the promise, or null if any thread may. Threads
  /// that are not its agents may only compare the pointer, as the home may be gone.
  void set_home(TaskHome* home) noexcept { home_ = home; }
  [[nodiscard]] TaskHome* settler() const noexcept { return home_; }

  friend void retain(PromiseStateBase& state) noexcept { state.shares_.add(); }
  friend void release(PromiseStateBase& state) noexcept {
    if (state.shares_.drop_or_be_last()) state.destroy_last();
  }

 private:
  static LoopNode* settled_mark() noexcept;
  /// For a holder: whether there is no other one, nor a reaction that one has left behind.
  [[nodiscard]] bool is_alone() const noexcept {
    // relaxed: is_last() acquires what the other holders have done.
    return shares_.is_last() && reactions_.load(sync::relaxed) == nullptr;
  }
  /// Whether a wait ends without the promise, or only looks up now and then.
  enum class Limit : std::uint32_t { none, deadline };
  bool wait_until(std::optional<std::chrono::steady_clock::time_point> deadline, Limit limit);
  void settle(PromiseStatus status) noexcept;
  [[nodiscard]] LoopNode* deliver_reactions(LoopNode* undelivered) noexcept;
  void wake_waiters() noexcept;
  void destroy_last() noexcept;

  sync::atomic<LoopNode*> reactions_{nullptr};
  RefCount shares_;
  sync::atomic<PromiseStatus> status_{PromiseStatus::pending};
  bool by_abort_ = false;
  sync::atomic<bool> handled_{false};

 protected:
  // These two belong to PromiseState. They are here because there is room between other members.
  // NOLINTBEGIN(readability-identifier-naming): private there
  sync::atomic<bool> taken_{false};
  bool has_value_ = false;
  // NOLINTEND(readability-identifier-naming)

 private:
  sync::atomic<std::uint32_t> waiting_{0};  ///< 1: threads wait on this word; 2: wake up
  Reason reason_;
  TaskHome* home_ = nullptr;
  void (*destroy_)(PromiseStateBase&) noexcept;
};

/// Delivers a settled promise's reaction to its loop: a microtask, by way of the inbox from other
/// threads, and always behind what was delivered before. On a closed loop the reaction is dropped.
HEIST_EXPORT void deliver(Reaction& reaction) noexcept;

/// The type that a promise of T stores: an empty value for void, a pointer for references.
template <class T>
struct PromiseValue {
  using type = T;
};
template <>
struct PromiseValue<void> {
  struct type {};
};
template <class T>
struct PromiseValue<T&> {
  using type = T*;
};

/// The part of a promise's shared state that depends on the type of its value.
template <class T>
class PromiseState : public PromiseStateBase {
 public:
  using Stored = typename PromiseValue<T>::type;
  PromiseState(void (*destroy)(PromiseStateBase&) noexcept, std::uint32_t shares) noexcept
      : PromiseStateBase(destroy, shares) {}
  PromiseState(const PromiseState&) = delete;
  PromiseState& operator=(const PromiseState&) = delete;
  ~PromiseState() { discard_value(); }

  /// Keeps the value. Others see it only after settle_fulfilled().
  template <class... Args>
  void emplace(Args&&... args) {
    discard_value();
    std::construct_at(std::addressof(value_), std::forward<Args>(args)...);
    has_value_ = true;
  }
  void discard_value() noexcept {
    if (std::exchange(has_value_, false)) std::destroy_at(std::addressof(value_));
  }

  /// Precondition: fulfilled.
  [[nodiscard]] Stored& value() noexcept { return value_; }

  /// Precondition: fulfilled. Moves the value out, once.
  /// Errors: InvalidStateError when it was taken before.
  [[nodiscard]] Stored take_value() {
    // relaxed: taking is exclusive; what is taken was published when the promise settled.
    if (taken_.exchange(true, sync::relaxed)) {
      throw InvalidStateError("the move-only value of this promise was taken before");
    }
    return std::move(value_);
  }

 private:
  union {
    // NOLINTNEXTLINE(readability-identifier-naming): private, as the union is
    Stored value_;  ///< if has_value_
  };
};

/// The value of a fulfilled promise for a caller that keeps it: a copy, or the value itself if it
/// is move-only.
/// Errors: InvalidStateError when it was taken before.
template <class T>
[[nodiscard]] decltype(auto) value_to_keep(PromiseState<T>& source) {
  if constexpr (is_copyable<typename PromiseState<T>::Stored>) {
    return source.value();
  } else {
    return source.take_value();
  }
}

/// Settles `target` as `source` is settled. The first target takes a move-only value; a later one
/// rejects with InvalidStateError.
template <class T>
void settle_as(PromiseState<T>& target, PromiseState<T>& source) noexcept {
  source.mark_handled();
  if (source.status() == PromiseStatus::rejected) {
    target.settle_rejected(source.reason(), source.is_abort());
    return;
  }
  try {
    target.emplace(value_to_keep(source));
  } catch (...) {
    target.settle_rejected(Reason::of_current_exception(), false);
    return;
  }
  target.settle_fulfilled();
}

/// A promise state in a node of its own (coroutines, with_resolvers, settled promises).
template <class T>
class StandaloneState final : public PromiseState<T> {
 public:
  explicit StandaloneState(std::uint32_t shares) noexcept : PromiseState<T>(&destroy, shares) {}

 private:
  static void destroy(PromiseStateBase& base) noexcept {
    destroy_node(static_cast<StandaloneState&>(base));
  }
};

}  // namespace HEIST_NAMESPACE::detail
