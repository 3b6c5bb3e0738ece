// PairingHeap: an intrusive priority queue.
#pragma once

#include <heist/version.hpp>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// After Fredman, Sedgewick, Sleator and Tarjan, "The pairing heap: a new form of self-adjusting
/// heap" (1986).
///
/// `T` has the links `child`, `sibling` and `previous`: the parent of a first child, and the
/// sibling before any other. `before(a, b)` is the order. Cost: O(1) for top and insert, amortised
/// O(log n) for erase and changed. Nothing is allocated (LIF-4).
///
/// Most items come in their order. An item that belongs behind the last one inserted becomes its
/// child, and when an item leaves, its children take its place. So such items form a line, which
/// each of them leaves in O(1). Otherwise they would all be children of the first item, and when
/// that left, all of them would be looked at.
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
  /// Puts `below` in the place of `item`; `below` may be null.   Precondition: `item` is not the
  /// root.
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

  /// Melds the siblings in pairs from the left, and collects the pairs in reverse. Then it melds
  /// all pairs from the right.
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
  T* last_ = nullptr;  ///< the item inserted last; once it was erased, one that stood before it
};

}  // namespace HEIST_NAMESPACE::detail
