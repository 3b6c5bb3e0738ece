// FlatMemory: checks that a program that goes on for ever needs no more and more memory.
#pragma once

#include <cstdint>

#include "heist/memory/node_pool.hpp"
#include "stress_run.hpp"

namespace heist::stress {

using namespace detail;

/// Compares the node pool's memory at quiet points. After a warm-up it has to stay what it was.
class FlatMemory {
 public:
  /// To be called at a quiet point after each round. The warm-up takes some rounds, because a new
  /// thread fills a cache of its own.
  void look() {
    if (++looks_ == warm_up) base_ = live();
    check(looks_ <= warm_up || live() <= base_ + allowance, "memory grows");
  }

 private:
  static constexpr std::uint64_t warm_up = 200;
  /// A chunk of 512 KiB counts as one, and so does a node that is too large for the pool. The
  /// registries of a long-lived signal may keep some hundred such nodes that are dead. With
  /// AddressSanitizer each node counts.
  static constexpr std::int64_t allowance = 512;

  static std::int64_t live() {
    const auto stats = node_pool_stats();
    return static_cast<std::int64_t>(stats.backing_allocations - stats.backing_releases);
  }

  std::uint64_t looks_ = 0;
  std::int64_t base_ = 0;
};

}  // namespace heist::stress
