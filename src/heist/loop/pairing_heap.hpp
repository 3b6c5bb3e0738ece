// PairingHeap: an intrusive priority queue.
#pragma once

#include <utility>

namespace heist {

/// After Fredman, Sedgewick, Sleator and Tarjan, "The pairing heap: a new form of self-adjusting heap" (1986).
///
/// `T` has the links `child`, `sibling` and `previous` (parent for a first child, else the sibling before); `before(a, b)`
/// orders. Cost: top, insert O(1); erase, changed amortised O(log n); no allocation (LIF-4).
template <class T, auto before>
class PairingHeap {
 public:
  [[nodiscard]] T* top() const noexcept { return root_; }

  void insert(T& item) noexcept {
    item.child = item.sibling = item.previous = nullptr;
    root_ = meld(root_, &item);
  }

  void erase(T& item) noexcept {
    if (&item == root_) {
      root_ = meld_siblings(item.child);
    } else {
      (item.previous->child == &item ? item.previous->child : item.previous->sibling) =
          item.sibling;
      if (item.sibling != nullptr) item.sibling->previous = item.previous;
      root_ = meld(root_, meld_siblings(item.child));
    }
    item.child = item.sibling = item.previous = nullptr;
  }

  /// The place of `item` in the order is another one now.
  void changed(T& item) noexcept {
    if (&item == root_ && item.child == nullptr) return;
    erase(item);
    insert(item);
  }

 private:
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
};

}  // namespace heist
