// FlatMemory: what a program that goes on for ever may keep of what it did.
#pragma once

#include <cstdint>

#include "heist/memory/node_pool.hpp"
#include "stress_run.hpp"

namespace heist::stress {

using namespace detail;

/// Compares the node pool's memory at quiet points: after a warm-up it stays what it was.
class FlatMemory {
 public:
  /// A quiet point after each round; a new thread fills a cache of its own, so it takes some
  /// rounds.
  void look() {
    if (++looks_ == warm_up) base_ = live();
    check(looks_ <= warm_up || live() <= base_ + allowance, "memory grows");
  }

 private:
  static constexpr std::uint64_t warm_up = 200;
  /// A chunk of 512 KiB counts as one, like a node too large for the pool: of those the registries
  /// of a long-lived signal may keep some hundred dead ones. With AddressSanitizer each node
  /// counts.
  static constexpr std::int64_t allowance = 512;

  static std::int64_t live() {
    const auto stats = node_pool_stats();
    return static_cast<std::int64_t>(stats.backing_allocations - stats.backing_releases);
  }

  std::uint64_t looks_ = 0;
  std::int64_t base_ = 0;
};

}  // namespace heist::stress
