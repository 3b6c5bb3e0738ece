// TimerWheel: the armed delays of one event loop, ordered by tick.
//
// Roles   agent only: every function is called on the thread that owns the wheel; nothing is
// atomic. Shape   Level l has slots of 64^l ticks, 64 of them (16 on the top level). Eleven levels
// cover every
//         Tick, so nothing overflows. Nodes armed for a tick that is not in the future are in the
//         due slot.
// I1      A node with key > now() is on the level of the highest base-64 digit in which its key
// differs
//         from now(), in the slot of that digit of the key. So the first occupied slot of the
//         lowest occupied level holds the earliest tick: no slot is ever passed unseen, none is
//         walked empty.
// I2      All nodes of one tick are in one slot at any time (I1), appended there in arming order
// and moved
//         down in list order: first in, first out across levels and cascades.
// I3      A slot is `sorted` (unsorted_ bit clear) while its keys ascend in list order.
// I4      slot.minimum <= every key of the slot; equal to the least one while the slot is sorted or
//         nothing was cancelled from it.
// I5      next_ is the minimum of the first occupied slot (outside expire()).
// Cost    arm O(1); cancel O(1), visiting at most minimum_scan_limit nodes of a slot; expire
// amortised at
//         most one step down a level per move, ten in a node's life. No allocation. About 16 KB a
//         wheel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "heist/loop_node.hpp"

namespace heist {

/// A point in time of an event loop; what a tick lasts is the loop's business.
using Tick = std::uint64_t;

/// "Never": what an empty wheel expects next. A node may be armed for it and is then only
/// cancelled.
inline constexpr Tick no_tick = std::numeric_limits<Tick>::max();

/// Hierarchical tickless timer wheel over intrusive nodes.
///
/// Thread:  the agent that owns it.   Blocks: never.   Errors: none; misuse asserts.
/// Lifetime: nodes belong to the caller and stay in place while armed; the wheel is empty when
/// destroyed.
class TimerWheel {
 public:
  /// How many nodes cancel() may visit to find the new minimum of a slot armed out of order.
  static constexpr unsigned minimum_scan_limit = 16;

  explicit TimerWheel(Tick now = 0) noexcept : now_(now), base_(now) {}
  ~TimerWheel();
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  /// Arms `node` for `expiry`; a tick at or before now() is due at the next expire().
  ///
  /// Errors:  precondition: the node is in no list.   Cost: O(1), no allocation.
  void arm(LoopNode& node, Tick expiry) noexcept;

  /// Takes an armed node out; it does not fire.
  ///
  /// Errors:  precondition: the node is armed in this wheel.   Cost: O(1), no allocation.
  void cancel(LoopNode& node) noexcept;

  /// Moves the time to `now` and hands every node with key <= now to `fire(LoopNode&)`; returns how
  /// many.
  ///
  /// Order:   (expiry tick, arming order), also across levels and cascades.
  /// `fire` may destroy its node, arm it again, arm others and cancel others, also ones due in this
  /// call, which then do not fire. What it arms for `now` or earlier is due at the next call. A
  /// `now` before now() does not move the time back.
  ///
  /// Errors:  `fire` does not throw and does not call expire().   Cost: see the head of this file.
  template <class Fire>
  std::size_t expire(Tick now, Fire&& fire) {
    static_assert(std::is_nothrow_invocable_v<Fire&, LoopNode&>,
                  "declare fire noexcept: an exception would leave due nodes behind");
    begin_expire(now);
    std::size_t fired = 0;
    while (LoopNode* node = take_due()) {
      ++fired;
      fire(*node);
    }
    return fired;
  }

  /// Earliest tick at which expire() may have something to do, or no_tick; sleep until then.
  ///
  /// The earliest armed tick exactly, cascades never show. One exception: when the earliest node of
  /// a slot that was armed out of order is cancelled and more than minimum_scan_limit nodes stay in
  /// that slot, its tick may remain as a lower bound. The wake-up it causes spreads the slot over
  /// lower levels, so there is at most one for each slot, ten in the life of a node; an emptied
  /// slot leaves none. While expire() runs, a lower bound.   Cost: one load.
  [[nodiscard]] Tick next_expiry() const noexcept { return next_; }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// The latest time given to expire().
  [[nodiscard]] Tick now() const noexcept { return now_; }

  /// Takes every node out and hands it to `f(LoopNode&)`, in no particular order; for close.
  template <class F>
  void drain(F&& f) {
    while (LoopNode* node = any_node()) {
      cancel(*node);
      f(*node);
    }
  }

  /// Walks the whole wheel and tells whether I1..I5, the links, the bitmaps and the size hold; for
  /// tests.
  [[nodiscard]] bool check_invariants() const;

 private:
  struct List {
    LoopNode* head = nullptr;
    LoopNode* tail = nullptr;

    void push_back(LoopNode& node) noexcept;
    void remove(LoopNode& node) noexcept;
    [[nodiscard]] bool has_end(const LoopNode& node) const noexcept {
      return &node == head || &node == tail;
    }
  };

  struct Slot {
    List list;
    Tick minimum = no_tick;
  };

  // A position is rank * 64 + index: rank 0 is the due slot (its last index, so that slots_ has no
  // gap), rank l + 1 is level l.
  static constexpr unsigned slot_bits = 6;
  static constexpr unsigned slots_per_level = 1U << slot_bits;
  static constexpr unsigned level_count = 11;
  static constexpr unsigned rank_count = level_count + 1;
  static constexpr unsigned top_level_slots = 1U << (64 - slot_bits * (level_count - 1));
  static constexpr unsigned due_position = slots_per_level - 1;
  static constexpr unsigned slot_count = 1 + slots_per_level * (level_count - 1) + top_level_slots;

  [[nodiscard]] unsigned wheel_position(Tick key) const noexcept;
  [[nodiscard]] unsigned armed_position(const LoopNode& node) const noexcept;
  [[nodiscard]] unsigned first_position(std::uint32_t ranks) const noexcept;
  [[nodiscard]] Slot& slot_at(unsigned position) noexcept {
    return slots_[position - due_position];
  }
  [[nodiscard]] const Slot& slot_at(unsigned position) const noexcept {
    return slots_[position - due_position];
  }
  [[nodiscard]] bool is_sorted(unsigned position) const noexcept;

  void place(LoopNode& node, unsigned position) noexcept;
  void mark_occupied(unsigned position) noexcept;
  void mark_empty(unsigned position) noexcept;
  void refresh_minimum(unsigned position, Slot& slot) noexcept;
  List take_slot(unsigned position) noexcept;
  [[nodiscard]] static List sort_by_key(List list) noexcept;
  void begin_expire(Tick now) noexcept;
  LoopNode* take_due() noexcept;
  bool collect() noexcept;
  void cascade(List list) noexcept;
  [[nodiscard]] Tick earliest() const noexcept;
  [[nodiscard]] LoopNode* any_node() const noexcept;

  [[nodiscard]] bool belongs(Tick key, unsigned position) const noexcept;
  [[nodiscard]] bool check_position(unsigned position, std::size_t& seen) const;
  [[nodiscard]] bool check_collected(std::size_t& seen) const;

  Tick now_;
  Tick base_;  ///< What I1 is relative to: now_, or on its way there while expire() runs.
  Tick next_ = no_tick;
  std::size_t size_ = 0;
  std::uint32_t ranks_ = 0;  ///< Bit r: rank r has an occupied slot.
  bool expiring_ = false;
  List collected_;  ///< The next nodes that the running expire() hands out, in order.
  std::array<std::uint64_t, rank_count> occupied_{};
  std::array<std::uint64_t, rank_count> unsorted_{};
  std::array<Slot, slot_count> slots_{};
};

}  // namespace heist
