// Trace: records what the tasks of all loops and clusters of the process do, for a viewer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <heist/detail/export.hpp>
#include <heist/version.hpp>
#include <memory>
#include <string>

namespace HEIST_NAMESPACE {

namespace detail {
class TraceRun;
}

struct TraceOptions {
  /// How many events of each thread are kept, 32 bytes each. Later ones overwrite the oldest.
  std::size_t events_per_thread = std::size_t{1} << 16;
  /// How many threads can record, which those do that run tasks, post, abort or set priorities.
  /// What further ones do is lost. A thread that ends keeps its place until the next trace, so
  /// programs that start a thread for each request need more places. The memory of a place that
  /// nobody takes is reserved, but not touched.
  std::size_t threads = 64;
};

/// How much of what happened a Trace has.
struct TraceCounts {
  std::uint64_t events = 0;          ///< that it has
  std::uint64_t overwritten = 0;     ///< that later ones have overwritten
  std::uint64_t without_thread = 0;  ///< lost, of threads beyond TraceOptions::threads
};

/// While a Trace runs, each thread records when tasks and continuations become runnable, start and
/// end, when signals are aborted, which tasks that ends, when priorities change, and when agents
/// steal, sleep and wake. While none runs, that costs a task two instructions.
///
/// Thread: one at a time; tasks of any thread record meanwhile.
class HEIST_EXPORT Trace {
 public:
  /// Starts recording.
  ///
  /// Errors: NotAllowedError while another Trace of the process runs; std::invalid_argument when an
  /// option is zero; std::bad_alloc, std::length_error.
  /// Cost: the memory stays with the process, for the next Trace with the same options. A thread
  /// touches its part with its first event, which takes some 0.1 ms for each megabyte. An event
  /// takes some 20 ns, and allocates nothing.
  explicit Trace(const TraceOptions& options = {});
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  /// Stops recording, if nobody has.
  ~Trace();

  /// Stops recording, and keeps what was recorded. A second call does nothing.
  ///
  /// Errors: std::bad_alloc; then it has stopped, and has nothing.
  void stop();

  // What was recorded, or, while the Trace runs, what has been recorded so far.

  /// Errors: std::bad_alloc.
  [[nodiscard]] TraceCounts counts() const;
  /// Writes a file for Perfetto (ui.perfetto.dev): a track for each thread, with a slice for each
  /// run of a task, arrows from posts to starts, and instants for the rest.
  ///
  /// Errors: std::system_error that names the file; std::bad_alloc.
  void write_perfetto(const std::string& path) const;
  /// Writes the same as JSON, in the format of Chrome's trace events, which other tools read, too.
  ///
  /// Errors: as above.
  void write_json(const std::string& path) const;

 private:
  std::unique_ptr<detail::TraceRun> run_;
};

}  // namespace HEIST_NAMESPACE
