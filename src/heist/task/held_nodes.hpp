// HeldNodes: tasks and continuations that agents hold back, and a pass over them in portions.
#pragma once

#include <cstdint>
#include <heist/detail/loop_node.hpp>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// A list of nodes, oldest first. A pass goes through it in portions, and appends what has come
/// since the last pass. One thread at a time uses it.
///
/// What has come is a chain with the newest node in front. A pass first goes through the list, then
/// turns the chain round.
class HeldNodes {
 public:
  [[nodiscard]] bool empty() const noexcept {
    return oldest_ == nullptr && unturned_ == nullptr && turned_ == nullptr;
  }
  [[nodiscard]] bool is_in_pass() const noexcept { return at_ != nullptr; }
  /// `newest` is the chain of what has come.   Precondition: no pass is under way.
  void begin_pass(LoopNode* newest) noexcept {
    at_ = &oldest_;
    unturned_ = newest;
    left_ = 0;
  }
  /// Goes on through `nodes` more nodes, and drops those for which `is_dead` is true. Returns false
  /// when the pass is over.
  template <class IsDead, class Drop>
  bool go_on(unsigned nodes, IsDead&& is_dead, Drop&& drop) noexcept {
    for (; nodes > 0; --nodes) {
      if (*at_ == nullptr && unturned_ == nullptr) return end_pass();
      LoopNode*& from = *at_ != nullptr ? *at_ : unturned_;
      LoopNode& node = *from;
      if (is_dead(node)) {
        from = node.next;
        drop(node);
      } else {
        ++left_;
        *at_ != nullptr ? pass_by() : turn();
      }
    }
    return true;
  }
  /// How many nodes the last pass has left in the list.
  [[nodiscard]] std::uint64_t left() const noexcept { return left_; }
  /// Takes all nodes out, oldest first, and those of the chain `newest` last. It ends a pass that
  /// is under way.
  template <class Visit>
  void take_all(LoopNode* newest, Visit&& visit) noexcept {
    visit_all(std::exchange(oldest_, nullptr), visit);
    while (unturned_ != nullptr) turn();
    visit_all(std::exchange(turned_, nullptr), visit);
    visit_all(oldest_first(newest), visit);
    at_ = nullptr;
  }

 private:
  void pass_by() noexcept { at_ = &(*at_)->next; }
  void turn() noexcept {
    LoopNode& node = *std::exchange(unturned_, unturned_->next);
    node.next = std::exchange(turned_, &node);
  }
  bool end_pass() noexcept {
    *at_ = std::exchange(turned_, nullptr);
    at_ = nullptr;
    return false;
  }
  template <class Visit>
  static void visit_all(LoopNode* oldest, Visit& visit) noexcept {
    while (oldest != nullptr) visit(*std::exchange(oldest, oldest->next));
  }

  LoopNode* oldest_ = nullptr;
  LoopNode** at_ = nullptr;       ///< in a pass: the link to the list's next node
  LoopNode* unturned_ = nullptr;  ///< in a pass: what is left of the chain, newest first
  LoopNode* turned_ = nullptr;    ///< in a pass: what it has seen of the chain, oldest first
  std::uint64_t left_ = 0;
};

}  // namespace HEIST_NAMESPACE::detail
