// SignalPriority: the priority of a TaskSignal, and who is told when it changes.
#pragma once

#include <cstdint>
#include <heist/detail/listener.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/sync.hpp>
#include <heist/priority.hpp>

#include "../concurrent/registry.hpp"

namespace HEIST_NAMESPACE::detail {

struct SourceLink;

/// Where a signal's priority comes from.
enum class PriorityKind : std::uint8_t {
  none,      ///< an AbortSignal
  own,       ///< a TaskController
  followed,  ///< another TaskSignal (any)
  fixed,     ///< a value (any)
};

/// What a TaskSignal has beside SignalCore, in the same node. An AbortSignal has no such part.
///
/// Roles   caller: any thread that calls set().  deliverer: one of them at a time, which tells
///         listeners and followers.  reader: any thread.
/// D2      A change of priority stores delivered_, then walks the registry for dependents. A new
///         dependent adds itself to the registry, then reads delivered_. All four are seq_cst, so
///         the walk meets the dependent, or the dependent reads the new value.
/// I4      change_word_ is a bare value only when every loop has been told of that value: a caller
///         tells the loops after it has changed the word, and before it ends as the deliverer, or
///         leaves. So a caller that finds the word bare, with the value that it wants, may return
///         (PRI-3).
/// I5      One caller delivers at a time, and the word says so. The deliverer ends when it has
///         delivered the value in the word, or it leaves a later value to the callers that are
///         counted: the first of them to leave delivers it. So the last value is always delivered
///         (PRI-6).
/// Edge signal: change, finish -> deliver. Carries what a caller did before its call to the
///         listeners that another caller calls, and what listeners did to the thread that calls
///         them next. (The word's other operations are read-modify-writes too, so they pass both
///         on.)
/// Edge signal: change, leave, finish -> observe. Carries nothing but the order of the messages to
///         the loops, for a caller that returns at once (I4).
/// Edge signal: visible -> follow. Carries nothing: the value is an atomic.
/// Proof   stress/model/models/priority.cpp, stress/set_priority_concurrent_stress.cpp
class SignalPriority {
 public:
  /// `first` is the value of a signal that follows none.
  SignalPriority(PriorityKind kind, TaskPriority first) noexcept;

  /// The value that picks use.   Precondition: the signal is a controller's.
  [[nodiscard]] TaskPriority for_picks() const noexcept;
  /// The word that has this value, for whoever compares it (UrgentLook).
  [[nodiscard]] const sync::atomic<std::uint32_t>& word() const noexcept { return change_word_; }
  /// The value whose event is being delivered, or was delivered last.
  [[nodiscard]] TaskPriority delivered() const noexcept;

  /// Called by any thread, for a controller's `signal`: changes the priority, and tells loops,
  /// listeners and followers.
  ///
  /// Errors: std::bad_alloc, NotAllowedError; nothing has changed then.
  void set(SignalCore& signal, TaskPriority priority);

  /// Called by any thread, for a `signal` that nobody listens to or follows: changes the priority,
  /// and tells the loops. Returns false when there was no memory for that; nothing has changed
  /// then. The accesses of the word are seq_cst (I2 of LentPriority).
  [[nodiscard]] bool show(SignalCore& signal, TaskPriority priority) noexcept;

  // What listens or follows. This registry is never closed.
  void add(Registration& registration) noexcept { static_cast<void>(registry_.add(registration)); }
  void note_dead() noexcept { registry_.note_dead(); }

  /// Gives a new follower its first priority, unless a change has reached it already.
  void start_following(TaskPriority priority) noexcept;

 private:
  static constexpr std::uint8_t not_delivered = 3;  ///< in a follower that no value has reached yet

  [[nodiscard]] bool leave() noexcept;
  void deliver_changes(SignalCore& signal) noexcept;
  [[nodiscard]] bool end_delivery() noexcept;
  void deliver(SignalCore& signal, TaskPriority previous, TaskPriority current) noexcept;
  [[nodiscard]] SourceLink* notify_listeners(SignalEvent event) noexcept;
  void follow(SignalCore& signal, TaskPriority current) noexcept;

  Registry registry_;
  sync::atomic<const void*> deliverer_{nullptr};  ///< identity of the delivering thread
  /// The latest value, whether a caller delivers, and how many other callers have not left yet.
  /// They are one word, so that the order of values is the order of events (PRI-6).
  sync::atomic<std::uint32_t> change_word_;
  sync::atomic<std::uint8_t> delivered_;
};

}  // namespace HEIST_NAMESPACE::detail
