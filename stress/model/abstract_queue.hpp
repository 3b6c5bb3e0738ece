// AbstractQueue: what moodycamel::ConcurrentQueue promises, and what it does not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <optional>

namespace heist::model {

using namespace detail;

// First in, first out for each producer; each item goes to one consumer. With several consumers it
// may look empty when it is not: a consumer counts itself in before it knows whether there is an
// item for it, and until it has taken that back the next one finds too few.
// tests/concurrent/abstract_queue_test.cpp holds it against the real one.
//
// Roles   producer: one thread for each of `Producers`.  consumer: any thread.
// Bound   Capacity items for each producer in all.
template <unsigned Producers, unsigned Capacity>
class AbstractQueue {
 public:
  using Item = int;

  /// One thread for each producer. False when it is full.
  bool enqueue(unsigned producer, Item item) noexcept {
    auto& lane = lanes_[producer];
    const auto tail = lane.tail.load(sync::relaxed);  // relaxed: the producer's own.
    if (tail == Capacity) return false;
    lane.items[tail] = item;
    lane.tail.store(tail + 1, sync::release);
    return true;
  }
  [[nodiscard]] std::optional<Item> try_dequeue() noexcept {
    for (auto& lane : lanes_) {
      if (const auto item = lane.take()) return item;
    }
    return std::nullopt;
  }

 private:
  struct Lane {
    std::optional<Item> take() noexcept {
      const auto overcommitted = overcommit.load(sync::relaxed);
      if (optimistic.load(sync::relaxed) - overcommitted >= tail.load(sync::acquire)) return {};
      const auto mine = optimistic.fetch_add(1, sync::acq_rel);
      if (mine - overcommitted < tail.load(sync::acquire)) {
        return items[head.fetch_add(1, sync::acq_rel)];
      }
      overcommit.fetch_add(1, sync::acq_rel);
      return {};
    }
    std::array<Item, Capacity> items{};
    sync::atomic<std::uint32_t> tail{0};
    sync::atomic<std::uint32_t> head{0};
    sync::atomic<std::uint32_t> optimistic{0};
    sync::atomic<std::uint32_t> overcommit{0};
  };
  std::array<Lane, Producers> lanes_;
};

}  // namespace heist::model
