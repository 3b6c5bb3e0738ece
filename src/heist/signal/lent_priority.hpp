// LentPriority: the priority of a coroutine that holds or awaits a lock, or that of a lock itself.
#pragma once

#include <cstdint>
#include <heist/detail/listener.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/scheduling_state.hpp>
#include <heist/detail/sync.hpp>
#include <heist/priority.hpp>

#include "signal_core.hpp"
#include "signal_priority.hpp"

namespace HEIST_NAMESPACE::detail {

/// The signal that a coroutine's continuations follow while it holds or awaits a lock. Its priority
/// is the highest of the coroutine's own one, its base, and of what is lent to it. A lock has one
/// as well, to which those lend who wait; it passes that on to the coroutine that holds the lock.
/// So there is a chain: a coroutine that waits, the lock, its holder, the lock for which that one
/// waits, and so on. Each member has at most one link, to the next one.
///
/// Roles   lender: any thread that adds or takes back what is lent.  linker: whoever may change
///         where the link leads: for a lock, who hands the lock over; for a coroutine, who lets it
///         wait, and then who has ended its wait.
/// States  lent_: how many links and waiters lend user-visible and user-blocking. Each half may be
///         below zero for a moment. out_: null, or the target, the level that this one lends to it,
///         and how many lenders have borrowed a share of the target.
/// I1      Whoever changes the level in out_ takes the old level from the target's lent_, and adds
///         the new one. So when all of them are done, lent_ has each link's level once.
/// I2      Whoever changes what a member's level depends on (lent_, the base, the link) then
///         compares the level with that in out_ and with the priority that picks use, and repeats
///         this until they are equal. All these accesses are seq_cst.
/// I3      A new link owns `bias` shares of its target. Whoever changes the level takes one of
///         them, so the target is there while it is changed. Who takes the last of `most_borrowed`
///         gives the link that many new ones. Meanwhile others leave the level to that one, which
///         looks again afterwards. Whoever ends the link drops the rest.
/// Edge lend: count <-> look. Count, then look at the link; or make a link, or change its level,
///         then look at the count. So of two lenders, or of a lender and the linker, the later one
///         sees what the earlier one did. The link carries its target as well.
/// Bound   A change goes along `longest_chain` links at the most, and makes at most `most_changes`
///         changes. A circle of locks is a deadlock; what is lent there need not be taken back. At
///         most 16 million links lead to one target, as they all have `bias` shares of it.
/// Progress  lock-free. While a thread is stopped that has changed a link and not yet its target,
///         the target may have its old level. Without memory for a move the level stays as it was.
/// Reclamation  as a signal; see I3. A listener of the base may try to get a reference, so the
///         memory lasts until the listener has gone.
/// Proof   stress/model/models/lending.cpp
class LentPriority final : public SignalCore {
 public:
  /// That of a lock.   Errors: std::bad_alloc.
  [[nodiscard]] static Ref<LentPriority> make_for_lock();
  /// That of a coroutine with this state, which has a scheduler.   Errors: std::bad_alloc.
  [[nodiscard]] static Ref<LentPriority> make(const SchedulingState& state);
  /// What the source is, or follows; null when that is another signal, or none.
  [[nodiscard]] static LentPriority* of(SignalCore* source) noexcept;

  LentPriority(TaskPriority base, TaskPriority ceiling, SignalCore* base_source) noexcept;
  ~LentPriority() = default;

  /// What this one lends: the highest of its base and what is lent to it, as far as its scheduler
  /// allows (SEC-1).
  [[nodiscard]] TaskPriority level() noexcept;
  /// Whether make() would make one with the same base for this state.
  [[nodiscard]] bool has_base_of(const SchedulingState& state) const noexcept;
  /// Gives the state its base back. This object has to outlive the use of the state.
  void restore_base(SchedulingState& state) const noexcept {
    state.priority_source = base_source_.get();
    state.priority = base_;
  }

  // What lenders call.

  /// For a waiter that has no LentPriority: lends `now` in place of `before`.
  void lend(TaskPriority before, TaskPriority now) noexcept;

  // What the linker calls.

  /// Lends to `target` from now on. Returns false when this one lends to another one already.
  [[nodiscard]] bool try_link(LentPriority& target) noexcept;
  /// Takes back what it lends. Returns the former target, or null.
  Ref<LentPriority> unlink() noexcept;

  /// How many locks lend to it. These are called by the linkers of those.
  void note_hold() noexcept { holds_.fetch_add(1, sync::relaxed); }  // relaxed: see is_holding().
  void note_release() noexcept { holds_.fetch_sub(1, sync::relaxed); }  // relaxed: as above.
  /// Whether a lock is held. It only decides whether a state goes back to the base, which changes
  /// nothing but the costs if nothing is lent.
  [[nodiscard]] bool is_holding() const noexcept {
    return holds_.load(sync::relaxed) != 0;  // relaxed: mostly the caller's own locks.
  }

  /// Called when the last reference has gone.
  void end_lent() noexcept;

 private:
  class BaseListener;
  using Word = std::uint64_t;
  static constexpr Word level_mask = 3;
  static constexpr Word one_borrowed = Word{1} << 56;
  static constexpr Word target_mask = one_borrowed - 16;
  static constexpr std::uint32_t most_borrowed = 255;
  static constexpr std::uint32_t bias = most_borrowed + 1;
  static constexpr unsigned longest_chain = 2 * 64;  ///< for each lock its own link, and a waiter's
  static constexpr unsigned most_changes = 2048;

  [[nodiscard]] static TaskPriority level_in(Word link) noexcept {
    return static_cast<TaskPriority>(link & level_mask);
  }
  [[nodiscard]] static std::uint32_t borrowed_in(Word link) noexcept {
    return static_cast<std::uint32_t>(link / one_borrowed);
  }
  [[nodiscard]] static LentPriority* target_in(Word link) noexcept;
  [[nodiscard]] static TaskPriority highest_in(std::int64_t lent) noexcept;

  void follow_base();
  [[nodiscard]] TaskPriority base_now() noexcept;
  void count(TaskPriority before, TaskPriority now) noexcept;
  void spread(unsigned depth, unsigned& changes) noexcept;
  void spread() noexcept;
  void show() noexcept;
  [[nodiscard]] Ref<LentPriority> change_target() noexcept;
  void give_more(LentPriority& target, Word full) noexcept;
  void drop_memory() noexcept;

  SignalPriority own_;  ///< directly behind the SignalCore
  sync::atomic<std::int64_t> lent_{0};
  sync::atomic<Word> out_{0};
  sync::atomic<std::uint32_t> holds_{0};
  RefCount memory_{1};  ///< its own share, and the listener's
  const TaskPriority base_ : 8;
  const TaskPriority ceiling_ : 8;
  Ref<SignalCore> base_source_;   ///< null: the base is fixed
  Listener* listener_ = nullptr;  ///< a share of it; of the base source
};

}  // namespace HEIST_NAMESPACE::detail
