// SpikeTask: what the prototype queues.
#pragma once

#include <cstdint>
#include <heist/sync.hpp>

namespace heist::spike {

/// Effective priority (PRI-1); -1 stands for nothing.
using Level = int;

/// Aligned as the library's nodes, so that six bits of its address are free. 24 bytes; a capture of 40 fits beside it.
struct alignas(64) SpikeTask {
  enum class Phase : std::uint8_t { waiting, started, aborted };

  SpikeTask* next = nullptr;          ///< in a bin: the older one
  void (*run)(SpikeTask&) = nullptr;  ///< the callback; its capture is the derived class's
  std::uint32_t transfers = 0;        ///< how often a thief carried it from queue to queue
  sync::atomic<Phase> phase{Phase::waiting};

  /// True once, for the one who takes it out of `waiting`: who starts it, or who aborts it (ABT-1).
  [[nodiscard]] bool leave_waiting(Phase to) noexcept {
    Phase expected = Phase::waiting;
    return phase.compare_exchange_strong(
        expected, to, sync::edge("spike_phase:leave", sync::acq_rel),
        sync::relaxed);  // relaxed: the loser does nothing with it.
  }
};

}  // namespace heist::spike
