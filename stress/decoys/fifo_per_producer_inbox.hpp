// A wrong inbox, in place of the right one (included before everything else): first in, first out
// for each producer only, as a set of queues of which each producer has its own. The order property
// tests must fail with it.
#pragma once

#include <array>
#include <cstdint>
#include <heist/version.hpp>
#include <utility>

#define Inbox RightInbox  // NOLINT: the decoy takes its name.
#include "heist/concurrent/inbox.hpp"
#undef Inbox

namespace HEIST_NAMESPACE::detail {

class Inbox : public RightInbox {
 public:
  [[nodiscard]] PostResult post(LoopNode& node) noexcept {
    Below below = 0;
    return post(node, below);
  }
  [[nodiscard]] PostResult post(LoopNode& node, Below& below) noexcept {
    // The links backwards are nobody's while a node is in an inbox: they say whose it is.
    node.prev = producers() + producer_number();
    return RightInbox::post(node, below);
  }
  [[nodiscard]] LoopNode* take() noexcept { return by_producer(RightInbox::take()); }
  [[nodiscard]] LoopNode* take_newest_first() noexcept { return reversed(take()); }
  [[nodiscard]] TakenNodes take_nodes() noexcept { return TakenNodes(take_newest_first()); }
  [[nodiscard]] LoopNode* close() noexcept { return by_producer(RightInbox::close()); }

 private:
  static constexpr std::size_t most_producers = 8;

  static LoopNode* producers() noexcept {
    static constexpr LoopNodeOps no_ops{LoopNodeKind::message, nullptr, nullptr};
    static constinit std::array<LoopNode, most_producers> nodes{
        LoopNode(no_ops), LoopNode(no_ops), LoopNode(no_ops), LoopNode(no_ops),
        LoopNode(no_ops), LoopNode(no_ops), LoopNode(no_ops), LoopNode(no_ops)};
    return nodes.data();
  }
  static std::size_t producer_number() noexcept {
    static sync::atomic<std::size_t> producer_count{0};
    // relaxed: a number.
    static thread_local const std::size_t number = producer_count.fetch_add(1, sync::relaxed);
    return number % most_producers;
  }

  static LoopNode* reversed(LoopNode* node) noexcept {
    LoopNode* result = nullptr;
    while (node != nullptr) {
      LoopNode* const next = std::exchange(node->next, result);
      result = std::exchange(node, next);
    }
    return result;
  }

  /// The same nodes: those of producer 0 first, then those of producer 1, …
  static LoopNode* by_producer(LoopNode* oldest) noexcept {
    std::array<LoopNode*, most_producers> first{};
    std::array<LoopNode*, most_producers> last{};
    while (oldest != nullptr) {
      LoopNode* const next = oldest->next;
      const auto producer = static_cast<std::size_t>(oldest->prev - producers());
      (last[producer] == nullptr ? first[producer] : last[producer]->next) = oldest;
      last[producer] = oldest;
      oldest->next = oldest->prev = nullptr;
      oldest = next;
    }
    LoopNode* result = nullptr;
    for (std::size_t producer = most_producers; producer-- > 0;) {
      if (last[producer] == nullptr) continue;
      last[producer]->next = result;
      result = first[producer];
    }
    return result;
  }
};

}  // namespace HEIST_NAMESPACE::detail
