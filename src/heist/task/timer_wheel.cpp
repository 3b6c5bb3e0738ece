#include "timer_wheel.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

namespace HEIST_NAMESPACE::detail {
namespace {

constexpr std::uint64_t bit_of(unsigned position) { return std::uint64_t{1} << (position % 64); }

/// Merges two chains that ascend by key. Of equal keys those of `older` come first.
LoopNode* merge(LoopNode* older, LoopNode* newer) noexcept {
  LoopNode* merged = nullptr;
  LoopNode** end = &merged;
  while (older != nullptr && newer != nullptr) {
    LoopNode*& least = newer->key < older->key ? newer : older;
    *end = least;
    end = &least->next;
    least = least->next;
  }
  *end = older != nullptr ? older : newer;
  return merged;
}

}  // namespace

TimerWheel::~TimerWheel() { assert(empty() && "a timer wheel is drained before it is destroyed"); }

void TimerWheel::arm(LoopNode& node, Tick expiry) noexcept {
  node.key = expiry;
  place(node, expiry <= now_ ? due_position : wheel_position(expiry));
  ++size_;
  next_ = std::min(next_, expiry);
}

void TimerWheel::cancel(LoopNode& node) noexcept {
  const unsigned position = armed_position(node);
  Slot& slot = slot_at(position);
  list_of(node, slot).remove(node);
  --size_;
  if (slot.list.head == nullptr) {
    mark_empty(position);
  } else if (node.key == slot.minimum) {
    refresh_minimum(position, slot);
  } else {
    return;
  }
  next_ = earliest();
  if (is_stopped_ && empty()) end_expire(false);
}

/// The list in which an armed node stands, if the node is one of its ends. Otherwise any list will
/// do, because List::remove() needs the list only for its ends.
TimerWheel::List& TimerWheel::list_of(const LoopNode& node, Slot& slot) noexcept {
  if (collected_.has_end(node)) return collected_;
  return cascading_.has_end(node) ? cascading_ : slot.list;
}

/// The slot in which an armed node stands. While expire() runs, or is stopped, the node may stand
/// in another list instead. Then list_of() tells whether it is an end of that list, and what
/// cancel() does to the slot besides leaves the slot right.
unsigned TimerWheel::armed_position(const LoopNode& node) const noexcept {
  if (node.key > now_) return wheel_position(node.key);
  const bool due = node.key <= base_ || slot_at(due_position).list.has_end(node);
  return due ? due_position : wheel_position(node.key);
}

void TimerWheel::place(LoopNode& node, unsigned position) noexcept {
  Slot& slot = slot_at(position);
  if (slot.list.head == nullptr) {
    mark_occupied(position);
    slot.minimum = node.key;
  } else if (node.key < slot.list.tail->key) {
    unsorted_[position / slots_per_level] |= bit_of(position);
    slot.minimum = std::min(slot.minimum, node.key);
  }
  slot.list.push_back(node);
}

void TimerWheel::begin_expire(Tick now, std::size_t most) noexcept {
  assert(!expiring_ && "fire called expire()");
  expiring_ = true;
  left_ = most;
  if (is_stopped_) return;
  now_ = std::max(now_, now);
  const bool sorted = is_sorted(due_position);
  collected_ = take_slot(due_position);
  if (!sorted) collected_ = sort_by_key(collected_);
}

/// Returns the next node to hand out, or null at the end of expire().
LoopNode* TimerWheel::take_due() noexcept {
  cascade();
  if (cascading_.head == nullptr && collected_.head == nullptr && !collect()) {
    return end_expire(false);
  }
  if (left_ == 0) return end_expire(true);
  --left_;
  LoopNode* node = collected_.head;
  collected_.remove(*node);
  --size_;
  return node;
}

LoopNode* TimerWheel::end_expire(bool is_stopped) noexcept {
  is_stopped_ = is_stopped;
  expiring_ = false;
  if (!is_stopped) {
    base_ = now_;
    next_ = earliest();
  }
  return nullptr;
}

/// Moves base_ on to the next due nodes and collects them: one tick, or a sorted slot that is all
/// due. Returns false when no more are due. (It does not collect everything first, so that nodes
/// are still in the cache when they fire.)
bool TimerWheel::collect() noexcept {
  while (collected_.head == nullptr && left_ > 0) {
    const std::uint32_t levels = ranks_ & ~1U;
    if (levels == 0) return false;
    const unsigned position = first_position(levels);
    const unsigned shift = slot_bits * (position / slots_per_level - 1);
    const Tick start = slot_at(position).minimum >> shift << shift;
    if (start > now_) return false;
    base_ = start;
    const bool sorted = is_sorted(position);
    const List list = take_slot(position);
    if (sorted && list.tail->key <= now_) {
      collected_ = list;
    } else {
      cascading_ = list;
      cascade();
    }
  }
  return true;
}

/// Distributes the nodes of a slot that starts at base_. Relative to that they all belong on lower
/// levels.
void TimerWheel::cascade() noexcept {
  // A walk over a long list waits for one cache miss after the other. `ahead` fetches the list from
  // its end as well, up to the middle, so that two misses are under way at a time.
  const LoopNode* ahead = cascading_.tail;
  for (LoopNode* node = nullptr; (node = cascading_.head) != nullptr && left_ > 0; --left_) {
    cascading_.remove(*node);
    const LoopNode* next = cascading_.head;
    if (ahead != nullptr) {
      ahead = ahead == node || ahead == next ? nullptr : ahead->prev;
      __builtin_prefetch(ahead);
    }
    if (node->key == base_) {
      collected_.push_back(*node);
    } else {
      place(*node, wheel_position(node->key));
    }
  }
}

/// Makes slot.minimum exact again after its node was cancelled, unless too many nodes would have to
/// be visited.
void TimerWheel::refresh_minimum(unsigned position, Slot& slot) noexcept {
  if (is_sorted(position)) {
    slot.minimum = slot.list.head->key;
    return;
  }
  Tick least = no_tick;
  unsigned visited = 0;
  for (const LoopNode* node = slot.list.head; node != nullptr; node = node->next) {
    if (++visited > minimum_scan_limit) return;  // the cancelled tick stays as a lower bound
    least = std::min(least, node->key);
  }
  slot.minimum = least;
}

TimerWheel::List TimerWheel::take_slot(unsigned position) noexcept {
  const List list = slot_at(position).list;
  slot_at(position).list = List{};
  mark_empty(position);
  return list;
}

Tick TimerWheel::earliest() const noexcept {
  return ranks_ == 0 ? no_tick : slot_at(first_position(ranks_)).minimum;
}

LoopNode* TimerWheel::any_node() const noexcept {
  if (collected_.head != nullptr) return collected_.head;
  return ranks_ == 0 ? nullptr : slot_at(first_position(ranks_)).list.head;
}

/// The position at which I1 puts a key > base_.
unsigned TimerWheel::wheel_position(Tick key) const noexcept {
  const unsigned level = (static_cast<unsigned>(std::bit_width(key ^ base_)) - 1) / slot_bits;
  const auto index = static_cast<unsigned>(key >> (level * slot_bits)) % slots_per_level;
  return (level + 1) * slots_per_level + index;
}

unsigned TimerWheel::first_position(std::uint32_t ranks) const noexcept {
  const auto rank = static_cast<unsigned>(std::countr_zero(ranks));
  return rank * slots_per_level + static_cast<unsigned>(std::countr_zero(occupied_[rank]));
}

bool TimerWheel::is_sorted(unsigned position) const noexcept {
  return (unsorted_[position / slots_per_level] & bit_of(position)) == 0;
}

void TimerWheel::mark_occupied(unsigned position) noexcept {
  const unsigned rank = position / slots_per_level;
  occupied_[rank] |= bit_of(position);
  ranks_ |= 1U << rank;
}

void TimerWheel::mark_empty(unsigned position) noexcept {
  const unsigned rank = position / slots_per_level;
  occupied_[rank] &= ~bit_of(position);
  unsorted_[rank] &= ~bit_of(position);
  if (occupied_[rank] == 0) ranks_ &= ~(1U << rank);
}

void TimerWheel::List::push_back(LoopNode& node) noexcept {
  node.next = nullptr;
  node.prev = tail;
  (tail != nullptr ? tail->next : head) = &node;
  tail = &node;
}

void TimerWheel::List::remove(LoopNode& node) noexcept {
  assert((node.prev != nullptr ? node.prev->next : head) == &node &&
         "the node is not armed in this wheel");
  (node.prev != nullptr ? node.prev->next : head) = node.next;
  (node.next != nullptr ? node.next->prev : tail) = node.prev;
  node.next = nullptr;
  node.prev = nullptr;
}

/// A stable merge sort without allocation. runs[i] is a sorted chain of 2^i nodes, or null.
TimerWheel::List TimerWheel::sort_by_key(List list) noexcept {
  std::array<LoopNode*, 64> runs{};
  for (LoopNode *node = list.head, *next = nullptr; node != nullptr; node = next) {
    next = node->next;
    node->next = nullptr;
    unsigned i = 0;
    for (; runs[i] != nullptr; ++i) node = merge(std::exchange(runs[i], nullptr), node);
    runs[i] = node;
  }
  LoopNode* chain = nullptr;
  for (LoopNode* run : runs) chain = merge(run, chain);
  List sorted;
  for (LoopNode* next = nullptr; chain != nullptr; chain = next) {
    next = chain->next;
    sorted.push_back(*chain);
  }
  return sorted;
}

bool TimerWheel::check_invariants() const {
  std::size_t seen = 0;
  if (!check_collected(seen) || !check_cascading(seen)) return false;
  for (unsigned position = due_position; position < due_position + slot_count; ++position) {
    if (!check_position(position, seen)) return false;
  }
  for (unsigned rank = 0; rank < rank_count; ++rank) {
    if ((occupied_[rank] != 0) != ((ranks_ >> rank & 1U) != 0)) return false;
  }
  const bool at_rest = base_ == now_ && collected_.head == nullptr && cascading_.head == nullptr &&
                       next_ == earliest();
  return seen == size_ && (at_rest || expiring_ || is_stopped_);
}

bool TimerWheel::belongs(Tick key, unsigned position) const noexcept {
  if (position == due_position) return key <= now_;
  return key > base_ && wheel_position(key) == position;
}

/// Checks I1, I3, I4, the links and the bits of one slot.
bool TimerWheel::check_position(unsigned position, std::size_t& seen) const {
  const Slot& slot = slot_at(position);
  const bool sorted = is_sorted(position);
  const bool occupied = (occupied_[position / slots_per_level] & bit_of(position)) != 0;
  if (occupied != (slot.list.head != nullptr)) return false;
  if (!occupied) return sorted && slot.list.tail == nullptr;
  if (sorted && slot.minimum != slot.list.head->key) return false;
  const LoopNode* last = nullptr;
  for (const LoopNode* node = slot.list.head; node != nullptr; last = node, node = node->next) {
    if (++seen > size_ || node->prev != last) return false;
    if (!belongs(node->key, position) || node->key < slot.minimum) return false;
    if (sorted && last != nullptr && node->key < last->key) return false;
  }
  return slot.list.tail == last;
}

bool TimerWheel::check_collected(std::size_t& seen) const {
  const LoopNode* last = nullptr;
  for (const LoopNode* node = collected_.head; node != nullptr; last = node, node = node->next) {
    if (++seen > size_ || node->prev != last || node->key > now_) return false;
    if (last != nullptr && node->key < last->key) return false;
  }
  return collected_.tail == last;
}

bool TimerWheel::check_cascading(std::size_t& seen) const {
  const LoopNode* last = nullptr;
  for (const LoopNode* node = cascading_.head; node != nullptr; last = node, node = node->next) {
    if (++seen > size_ || node->prev != last || node->key < base_) return false;
  }
  return cascading_.tail == last;
}

}  // namespace HEIST_NAMESPACE::detail
