// TimerWheel: the armed delays of one event loop, ordered by tick.
//
// Roles   agent: the thread that owns the wheel; it makes every call. Nothing is atomic.
// States  at rest; in expire(); stopped: as in expire(), until the next call goes on.
// Shape   Level l has 64 slots (16 on the top level) of 64^l ticks each. Eleven levels cover every
//         Tick, so nothing overflows. Nodes armed for now() or earlier are in the due slot.
// I1      base_ is now(), or on its way there while expire() runs. A node with key > base_ is on
//         the level of the highest base-64 digit in which its key differs from base_, in the slot
//         of that digit of the key. So the first occupied slot of the lowest occupied level holds
//         the earliest tick. Bitmaps find it; empty slots are not walked.
// I2      By I1 all nodes of one tick are in one slot at any time. They are appended in arming
//         order and moved down in list order, so they are first in, first out across levels and
//         cascades.
// I3      While the unsorted_ bit of a slot is clear, its keys ascend in list order.
// I4      slot.minimum <= every key of the slot. It is the least key as long as the slot is sorted
//         or nothing was cancelled from it.
// I5      next_ is the minimum of the first occupied slot, due slot first, except in expire().
// Bound   16 KiB a wheel, none of it allocated. arm, cancel: O(1); cancel visits at most
//         minimum_scan_limit nodes. expire: amortised O(1) a node, which moves down at most ten
//         times.
// Proof   tests/loop/timer_wheel_*_test.cpp (among them random histories against a reference
//         model); docs/adr/0004 has numbers.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <heist/detail/levels.hpp>
#include <heist/detail/loop_node.hpp>
#include <limits>
#include <type_traits>
#include <utility>

#include "../concurrent/own_count.hpp"

namespace HEIST_NAMESPACE::detail {

/// A point in time of an event loop. How long a tick lasts is the loop's business.
using Tick = std::uint64_t;

/// Means "never". next_expiry() of an empty wheel returns it; a node that is armed for it can only
/// be cancelled.
inline constexpr Tick no_tick = std::numeric_limits<Tick>::max();

/// A hierarchical tickless timer wheel over intrusive nodes.
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

  /// Arms `node` for `expiry`. A tick at or before now() is due at the next expire().
  ///
  /// Errors:  precondition: the node is in no list.   Cost: O(1), no allocation.
  void arm(LoopNode& node, Tick expiry) noexcept;

  /// Takes an armed node out, so that it does not fire.
  ///
  /// Errors:  precondition: the node is armed in this wheel.   Cost: O(1), no allocation.
  void cancel(LoopNode& node) noexcept;

  /// Moves the time to `now` (never back), and hands every node with key <= now to
  /// `fire(LoopNode&)`, no longer armed. Returns how many.
  ///
  /// `fire` may destroy its node or arm it again, and it may arm and cancel others. Nodes that are
  /// due in this call and are cancelled do not fire. What is armed for `now` or earlier is due at
  /// the next call.
  ///
  /// `most`: the call stops after that many steps. A step hands a node out, or moves it down. Later
  /// calls go on with the same time, whatever `now` they are given, and next_expiry() is that time
  /// until one of them has come to the end.
  ///
  /// Order:   (expiry tick, arming order), also across levels and cascades.
  /// Errors:  precondition: `fire` does not throw, and calls neither expire() nor drain().
  /// Cost:    amortised O(1) a node; O(n log n) for nodes armed for the past out of order.
  template <class Fire>
  std::size_t expire(Tick now, Fire&& fire, std::size_t most = no_limit) {
    static_assert(std::is_nothrow_invocable_v<Fire&, LoopNode&>,
                  "declare fire noexcept: an exception would leave due nodes behind");
    begin_expire(now, most);
    std::size_t fired = 0;
    while (LoopNode* node = take_due()) {
      ++fired;
      fire(*node);
    }
    return fired;
  }

  /// The earliest tick at which expire() may have something to do, or no_tick. The agent may sleep
  /// until then.
  ///
  /// It is the earliest armed tick, never that of a cascade. There is one exception. When the
  /// earliest node of a slot that was armed out of order is cancelled, and more than
  /// minimum_scan_limit others stay, its tick may remain as a lower bound. The early wake-up
  /// spreads the slot over lower levels, so there is at most one for each slot, and ten in a node's
  /// life. A slot that has become empty leaves no bound. Inside `fire` the value means nothing.
  ///
  /// Cost: two loads.
  [[nodiscard]] Tick next_expiry() const noexcept { return is_stopped_ ? now_ : next_; }

  /// Thread: any.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// The time of the latest expire(), even if that has stopped on its way.
  [[nodiscard]] Tick now() const noexcept { return now_; }

  /// Takes every node out and hands it to `f(LoopNode&)`, in no particular order; for close.
  ///
  /// `f` may destroy its node and cancel others.   Errors:  precondition: not inside expire().
  template <class F>
  void drain(F&& f) {
    assert(!expiring_ && "drain() inside expire()");
    finish_cascade();
    while (LoopNode* node = any_node()) {
      cancel(*node);
      f(*node);
    }
  }

  /// Whether I1 to I5, the links, the bitmaps and the size hold; for tests, also inside `fire`.
  ///
  /// Cost: walks the whole wheel.
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

  // A position is rank * 64 + index. Rank l + 1 is level l. Rank 0 is the due slot; it has the last
  // index of its rank, so that slots_ has no gap.
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

  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

  void finish_cascade() noexcept {
    left_ = no_limit;
    cascade();
  }

  void place(LoopNode& node, unsigned position) noexcept;
  void mark_occupied(unsigned position) noexcept;
  void mark_empty(unsigned position) noexcept;
  void refresh_minimum(unsigned position, Slot& slot) noexcept;
  List take_slot(unsigned position) noexcept;
  [[nodiscard]] static List sort_by_key(List list) noexcept;
  void begin_expire(Tick now, std::size_t most) noexcept;
  LoopNode* take_due() noexcept;
  LoopNode* end_expire(bool is_stopped) noexcept;
  bool collect() noexcept;
  void cascade() noexcept;
  [[nodiscard]] List& list_of(const LoopNode& node, Slot& slot) noexcept;
  [[nodiscard]] Tick earliest() const noexcept;
  [[nodiscard]] LoopNode* any_node() const noexcept;

  [[nodiscard]] bool belongs(Tick key, unsigned position) const noexcept;
  [[nodiscard]] bool check_position(unsigned position, std::size_t& seen) const;
  [[nodiscard]] bool check_collected(std::size_t& seen) const;
  [[nodiscard]] bool check_cascading(std::size_t& seen) const;

  Tick now_;
  Tick base_;
  Tick next_ = no_tick;
  OwnCount size_;
  std::uint32_t ranks_ = 0;  ///< Bit r: rank r has an occupied slot.
  bool expiring_ = false;
  bool is_stopped_ = false;  ///< The last expire() has not come to its end.
  std::size_t left_ = 0;     ///< Steps that the running expire() may take.
  List collected_;           ///< The next nodes that the running expire() hands out, in order.
  List cascading_;           ///< What it moves down: the rest of the slot that starts at base_.
  std::array<std::uint64_t, rank_count> occupied_{};
  std::array<std::uint64_t, rank_count> unsorted_{};
  std::array<Slot, slot_count> slots_{};
};
static_assert(sizeof(TimerWheel) <= std::size_t{16} * 1024);

}  // namespace HEIST_NAMESPACE::detail
