// TraceRings: the rings of all threads, for the traces of one size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <heist/detail/sync.hpp>
#include <vector>

#include "trace_ring.hpp"

namespace HEIST_NAMESPACE::detail {

/// What a Trace has found in the rings.
struct TracedEvents {
  struct OfThread {
    TracedThread thread;
    std::vector<TraceEvent> events;  ///< in the order in which they were recorded
    bool lacks_some = false;         ///< others came before them, and were overwritten
  };
  std::vector<OfThread> threads;
  std::uint64_t overwritten = 0;
  std::uint64_t without_ring = 0;  ///< of threads for which no ring was left
};

/// Starters and readers hold the mutex of Tracing.
class TraceRings {
 public:
  /// Errors: std::bad_alloc, std::length_error.
  TraceRings(std::size_t events, std::size_t threads);

  [[nodiscard]] bool has_size(std::size_t events, std::size_t threads) const noexcept {
    return events == events_ && threads == rings_.size();
  }

  // What starters and readers call.

  void begin() noexcept;
  /// Copies what has been recorded since begin(). Threads may go on recording.
  /// Errors: std::bad_alloc.
  [[nodiscard]] TracedEvents read() const;

  // What any thread calls.

  /// Returns a ring that is the caller's until it leaves; null when none is free.
  [[nodiscard]] TraceRing* claim() noexcept;
  void count_lost() noexcept {
    without_ring_.fetch_add(1, sync::relaxed);  // relaxed: a statistic.
  }

 private:
  const std::size_t events_;
  std::deque<TraceRing> rings_;
  /// How many are free, or about to be. It spares a thread that would find none the search.
  sync::atomic<std::size_t> free_;
  std::vector<std::uint64_t> begins_;  ///< of each ring: how many events came before this trace
  alignas(64) sync::atomic<std::uint64_t> without_ring_{0};  ///< threads without a ring write to it
};

}  // namespace HEIST_NAMESPACE::detail
