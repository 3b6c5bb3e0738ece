// Tracing: whether a Trace runs in this process, and where threads record what happens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <heist/detail/sync.hpp>

#include "trace_rings.hpp"

namespace HEIST_NAMESPACE::detail {

/// A time of events, and what the clock of the process said then.
struct TraceTime {
  std::uint64_t count = 0;        ///< cycles where these go at a constant rate, else nanoseconds
  std::uint64_t nanoseconds = 0;  ///< of std::chrono::steady_clock

  [[nodiscard]] static TraceTime now() noexcept;
};

/// Whoever has something to record asks is_on() first, or is told by a TraceWatch.
///
/// Edge tracing: start -> use. Carries the rings.
/// Thread: any.
class Tracing {
 public:
  [[nodiscard]] static bool is_on() noexcept {
#ifdef HEIST_MODEL
    return false;  // here all virtual threads share one copy of thread-local variables
#else
    return runs.load(sync::relaxed);  // relaxed: record() looks for the rings.
#endif
  }
  /// Records an event of the calling thread. Does nothing when the trace has just ended.
  /// Cost: some 13 ns, of which reading the time takes 12, unless `event.time` is known. The first
  /// time in a thread it claims a ring, and touches all of its memory.
  static void record(const TraceEvent& event) noexcept {
    const auto [time, what, other, rest] = event.words();
    record_words(time, what, other, rest);
  }

  /// Begins a trace, with rings for so many threads and events of each. The memory of a trace is
  /// kept for the next one of the same size.
  ///
  /// Errors: std::bad_alloc, NotAllowedError when one runs.
  static TraceRings& start(std::size_t events, std::size_t threads);
  /// Ends it. Threads may still be recording one event each.
  static void stop() noexcept;
  /// As stop(), and reads before another trace can begin.   Errors: std::bad_alloc; then the trace
  /// has ended all the same.
  [[nodiscard]] static TracedEvents stop_and_read(const TraceRings& rings);
  /// What was recorded since the last start().   Errors: std::bad_alloc.
  [[nodiscard]] static TracedEvents read(const TraceRings& rings);

 private:
  /// Four numbers are passed in registers, and an event is not.
  static void record_words(std::uint64_t time, std::uint64_t what, std::uint64_t other,
                           std::uint64_t rest) noexcept;
  static void end_trace() noexcept;

  static sync::atomic<bool> runs;
};

}  // namespace HEIST_NAMESPACE::detail
