// DependentSignal: a signal made by any(), which follows others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <heist/abort_signal.hpp>
#include <heist/detail/ref.hpp>
#include <span>

#include "signal_core.hpp"

namespace HEIST_NAMESPACE::detail {

class DependentSignal;

/// The place of a dependent signal in the registry of one of its roots.
struct SourceLink : Registration {
  SourceLink(DependentSignal& owner, Ref<SignalCore> root) noexcept;

  DependentSignal& dependent;
  Ref<SignalCore> source;  ///< the root; held until the dependent ends

 private:
  static bool claim(Registration& registration) noexcept;
  static bool is_dead(const Registration& registration) noexcept;
  static void forget(Registration& registration) noexcept;
  static const Ops link_ops;
};

/// The state of a signal made by any(). It depends on roots, which hold it only weakly. Behind it,
/// in the same node, stand the SignalPriority if it is a TaskSignal, and its links. They live as
/// long as the memory.
///
/// Shares   references (SignalCore): those of handles, tasks, subscriptions, and of a walker that
///          has claimed a link. When the last one goes, the signal ends, and drops its roots.
///          Memory: the signal's own share until then, and one for each registry that has a link of
///          it, until the registry has pruned or dropped the link. The shares are counted before
///          the first registry knows the signal.
/// I1       A dependent holds its roots. A root holds only a dependent's memory. So whichever goes
///          first, a long-lived root keeps nothing alive (ABT-5) but the memory of a bounded number
///          of dead dependents (Registry).
/// I2       Whoever claims a link has a reference. So a dependent that has ended is never touched
///          again.
/// I3       A root's second abort returns while the first one may still be on its way to the
///          dependents. After that return no task of a dependent may start (ABT-2), and none that
///          runs may fulfil (ABT-6), so each start and each finish looks at the roots. The task may
///          hold the last reference to the dependent, and the first abort has yet to reject the
///          task's promise. So the task leaves a reference, which whoever marks the dependent
///          releases. The word kept_ says so: a task changes `no` to `yes`, and the marker changes
///          `no` or `yes` to `marked`. The marker has claimed a link, and so has a reference of its
///          own.
/// Edge kept: keep -> mark. Carries nothing plain: it orders the task's addition to the count of
///         references before the marker's release.
/// Proof    stress/model/models/any.cpp, stress/any_stress.cpp
class DependentSignal final : public SignalCore {
 public:
  struct Priority {
    PriorityKind kind = PriorityKind::none;
    TaskPriority value = TaskPriority::user_visible;  ///< when fixed
    SignalCore* root = nullptr;                       ///< when followed
  };
  /// Makes a signal that aborts as soon as one of these signals does. It is born aborted when one
  /// is aborted already.
  ///
  /// Errors: std::bad_alloc; std::invalid_argument for a moved-from handle. Nothing is linked then.
  template <class Signal>
  [[nodiscard]] static Ref<SignalCore> make(std::span<const Signal> signals,
                                            const Priority& priority);
  /// The priority of a signal that follows `source`.
  [[nodiscard]] static Priority following(SignalCore& source) noexcept;

  /// The root whose priority `follower` follows.   Precondition: it follows one.
  [[nodiscard]] static SignalCore& priority_root(SignalCore& follower) noexcept;

  /// Returns true when a root of `signal` is aborted, so that none of its tasks may start or
  /// fulfil. Then it is kept until that abort has come to it (I3).   Precondition: it is a
  /// dependent.
  ///
  /// Thread: any that has a reference.   Cost: a load for each root.
  [[nodiscard]] static bool try_keep_for_aborter(SignalCore& signal) noexcept;
  /// Called by the thread that has marked this signal, and has a reference of its own.
  void release_kept() noexcept;

  /// Called when the last reference has gone.
  void end_dependent() noexcept;
  /// Gives back one share of the memory.
  void drop_memory() noexcept;

 private:
  enum class Kept : std::uint8_t { no, yes, marked };

  DependentSignal(const Priority& priority, std::size_t room) noexcept;
  ~DependentSignal();

  [[nodiscard]] static std::size_t bytes_for(std::size_t room, bool has_priority) noexcept;
  [[nodiscard]] static const DependentSignal* from(const SignalCore& core) noexcept;
  template <class Signal>
  [[nodiscard]] static std::size_t count_roots(std::span<const Signal> signals);
  [[nodiscard]] SourceLink* first_link() const noexcept;
  [[nodiscard]] std::span<SourceLink> links() noexcept;
  [[nodiscard]] std::span<const SourceLink> links() const noexcept;
  /// The links for aborts. One for the priority may stand behind them.
  [[nodiscard]] std::span<const SourceLink> abort_links() const noexcept;
  template <class Signal>
  void link_all(std::span<const Signal> signals) noexcept;
  bool link_to(Ref<SignalCore> root) noexcept;
  void follow_priority_of(SignalCore& root) noexcept;
  void keep() noexcept;
  SourceLink& make_link(Ref<SignalCore> root) noexcept;
  void drop_unused_memory() noexcept;

  const std::uint8_t links_at_;  ///< where they begin, in bytes from this object
  RefCount memory_;
  const std::uint32_t room_;
  std::uint32_t count_ = 0;
  bool follows_ = false;  ///< the last link is for the priority
  sync::atomic<Kept> kept_{Kept::no};
};

}  // namespace HEIST_NAMESPACE::detail
