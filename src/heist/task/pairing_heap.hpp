// PairingHeap: an intrusive priority queue.
#pragma once

#include <heist/version.hpp>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// After Fredman, Sedgewick, Sleator and Tarjan, "The pairing heap: a new form of self-adjusting
/// heap" (1986).
///
/// `T` has the links `child`, `sibling` and `previous` (parent for a first child, else the sibling
/// before); `before(a, b)` orders. Cost: top, insert O(1); erase, changed amortised O(log n); no
/// allocation (LIF-4).
///
/// Most items come in their order. One that belongs behind the last to come stands below that one,
/// and what stood below one that leaves takes its place. So such items are a line of which each
/// leaves in O(1), and not all of them children of the first, which would all be looked at when
/// that leaves.
template <class T, auto before>
class PairingHeap {
 public:
  [[nodiscard]] T* top() const noexcept { return root_; }

  void insert(T& item) noexcept {
    item.child = item.sibling = item.previous = nullptr;
    if (last_ != nullptr && before(*last_, item)) {
      static_cast<void>(meld(last_, &item));
    } else {
      root_ = meld(root_, &item);
    }
    last_ = &item;
  }

  void erase(T& item) noexcept {
    if (&item == last_) last_ = item.previous;
    T* const below = meld_siblings(item.child);
    if (&item == root_) {
      root_ = below;
    } else {
      replace(item, below);
    }
    item.child = item.sibling = item.previous = nullptr;
  }

  /// To be called when the place of `item` in the order has changed.
  void changed(T& item) noexcept {
    if (&item == root_ && item.child == nullptr) return;
    erase(item);
    insert(item);
  }

 private:
  /// `below` may be null. Precondition: `item` has one before it.
  static void replace(T& item, T* below) noexcept {
    T* const next = item.sibling;
    T* const in_place = below != nullptr ? below : next;
    (item.previous->child == &item ? item.previous->child : item.previous->sibling) = in_place;
    if (in_place != nullptr) in_place->previous = item.previous;
    if (below == nullptr || next == nullptr) return;
    below->sibling = next;
    next->previous = below;
  }
  static T* meld(T* a, T* b) noexcept {
    if (a == nullptr) return b;
    if (b == nullptr) return a;
    if (before(*b, *a)) std::swap(a, b);
    b->previous = a;
    b->sibling = a->child;
    if (a->child != nullptr) a->child->previous = b;
    a->child = b;
    return a;
  }

  /// Pairs from the left, collected in reverse; then all pairs from the right.
  static T* meld_siblings(T* first) noexcept {
    T* pairs = nullptr;
    while (first != nullptr) {
      T* a = first;
      T* b = a->sibling;
      first = b != nullptr ? b->sibling : nullptr;
      a->sibling = nullptr;
      if (b != nullptr) b->sibling = nullptr;
      T* pair = meld(a, b);
      pair->sibling = pairs;
      pairs = pair;
    }
    T* root = nullptr;
    while (pairs != nullptr) {
      T* rest = std::exchange(pairs->sibling, nullptr);
      root = meld(root, pairs);
      pairs = rest;
    }
    if (root != nullptr) root->previous = nullptr;
    return root;
  }

  T* root_ = nullptr;
  T* last_ = nullptr;  ///< the last to come, or one that stood before it
};

}  // namespace HEIST_NAMESPACE::detail
