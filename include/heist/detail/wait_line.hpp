// WaitLine: those who wait for one thing, the most urgent first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <heist/detail/export.hpp>
#include <heist/detail/sync.hpp>
#include <heist/detail/waiter.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// Waiters by priority, then by age.
///
/// Roles   waiter: joins.  aborter: has claimed a waiter, and leaves in its place.  server: one
///         thread at a time (WaitCore).
/// States  joined_, left_: stacks. All else is the server's.
/// I1      An aborter leaves after its waiter has joined. The server takes those who left first. So
///         it finds each of them in its lists, or knows it as taken out.
/// Edge wait_line: join -> take. Carries the waiter.
/// Edge wait_line: leave -> take_left. Carries the aborted waiter, and that it had joined.
/// Progress  join and leave are lock-free. take_best looks at the waiters whose priority follows a
///         signal, up to the first one at user-blocking, and at three others. take_unless_seen
///         looks at all waiters for each new number, and otherwise at those who have joined since.
/// Proof   stress/model/models/primitives.cpp, stress/primitives_stress.cpp
class HEIST_EXPORT WaitLine {
 public:
  /// The line takes over a share of the waiter.
  void join(Waiter& waiter) noexcept;
  /// Called by who has claimed a waiter that may stand in the line.
  void leave(Waiter& waiter) noexcept;

  // What the server calls.

  /// Lets in those who have joined, and moves those who left to `gone`, with the line's shares.
  /// Returns how many those were.
  [[nodiscard]] std::uint32_t update(WaiterList& gone) noexcept;
  /// Takes out, and claims, the oldest of the most urgent waiters; null if there is none. The
  /// line's share goes to the caller.
  [[nodiscard]] Waiter* take_best() noexcept;
  /// Does the same to all that have seen something else than `now`. Whom the last call left in the
  /// line has seen what that one was given, and is looked at only if `now` is something else.
  void take_unless_seen(std::uint64_t now, WaiterList& taken) noexcept;

 private:
  [[nodiscard]] WaiterList& list_of(const Waiter& waiter) noexcept;
  void let_in(Waiter* newest) noexcept;
  void take_out(Waiter& waiter) noexcept;
  [[nodiscard]] Waiter* find_best() const noexcept;

  static constexpr std::size_t following = 3;  ///< the list of those that follow a signal

  sync::atomic<Waiter*> joined_{nullptr};
  sync::atomic<Waiter*> left_{nullptr};
  std::array<WaiterList, 4> lists_;  ///< one for each fixed priority, and `following`
  std::uint64_t ages_ = 0;
  // Of the last take_unless_seen: what it was given, and the age of the youngest waiter then.
  std::uint64_t seen_by_all_ = 0;
  std::uint64_t looked_at_ = 0;
};

}  // namespace HEIST_NAMESPACE::detail
