// How a loop or an agent is closed, and what the close reports.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/delay.hpp>
#include <optional>

namespace heist {

/// What happens to the tasks that have not started. Tasks that other threads post from now on are
/// refused in every mode; while draining, running tasks may go on posting to their own loop.
///
/// `drain` runs what is runnable until nothing is; delayed tasks reject with AbortError, unless
/// `wait_for_delayed` is set. At the deadline the rest rejects as by an abort: of an agent the
/// promise of the running task at once, what is queued behind it as soon as its callback returns. A
/// loop that is closed by its own thread has nobody to look at the deadline while a task runs: that
/// task settles as it ends.
///
/// Of several closes the strictest counts, for all: an earlier deadline, or abort, hurries a close
/// that is under way, and wakes it. Asking for less changes nothing.
struct CloseMode {
  enum class Kind : std::uint8_t { drain, abort };

  [[nodiscard]] static CloseMode drain() noexcept { return {Kind::drain, {}, false}; }
  [[nodiscard]] static CloseMode abort() noexcept { return {Kind::abort, {}, false}; }
  [[nodiscard]] static CloseMode drain_until(
      std::chrono::steady_clock::time_point deadline) noexcept {
    return {Kind::drain, deadline, false};
  }

  Kind kind = Kind::drain;
  std::optional<std::chrono::steady_clock::time_point> deadline;
  bool wait_for_delayed = false;
};

/// What has become, by the return of a close(), of the tasks that had not ended when the first one
/// was called, and of those that they have posted since. Each counts once; none that a signal
/// aborted, once that is cleared away. A later close() returns what is known by then.
struct CloseReport {
  std::uint64_t ran = 0;            ///< tasks that ended
  std::uint64_t aborted = 0;        ///< tasks that the close dropped
  std::uint64_t not_started = 0;    ///< tasks that will never start either: they stand behind one
                                    ///< that still runs, and are dropped when it returns
  std::uint64_t still_running = 0;  ///< tasks that had not ended: callback, or tree of calls

  friend bool operator==(const CloseReport&, const CloseReport&) = default;
};

}  // namespace heist
