// TraceEvent: one thing that happened while a Trace ran, as a thread keeps it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

enum class TraceKind : std::uint8_t {
  post,      ///< a task or a continuation has become runnable
  label,     ///< what starts next on this thread has this label
  start,     ///< it starts
  end,       ///< what has started last on this thread ends
  birth,     ///< a signal has been made; one that had the same address is gone
  signal,    ///< a signal is aborted, and its tasks next
  abort,     ///< the signal that was recorded before has aborted a task
  priority,  ///< a signal's priority has changed
  steal,     ///< an agent has taken tasks from another one
  sleep,     ///< an agent goes to sleep
  wake,      ///< it is awake again
};

/// Which fields say something depends on the kind. It goes into four words, so that a ring can keep
/// it without a lock.
struct TraceEvent {
  static constexpr std::uint16_t unknown_agent = 0xFFFF;
  using Words = std::array<std::uint64_t, 4>;

  std::uint64_t time = 0;       ///< in the unit of TraceTime; zero: when it is recorded
  const void* what = nullptr;   ///< the task, or the signal; only an identity
  const void* other = nullptr;  ///< start: its signal, or null.  Else the label's text, or null
  TraceKind kind = TraceKind::post;
  std::uint8_t level = 0;    ///< post, start: the level.  priority: the TaskPriority from now on
  std::uint8_t before = 0;   ///< priority: the TaskPriority until now
  bool has_started = false;  ///< abort: the task had started
  std::uint16_t from = 0;    ///< steal: the agent that had the tasks
  std::uint16_t count = 0;   ///< steal: how many tasks

  /// Shifts keep the fields in registers. Bytes that were just written one by one could not be read
  /// as a word before the processor has written them all.
  [[nodiscard]] Words words() const noexcept {
    return {time, std::bit_cast<std::uintptr_t>(what), std::bit_cast<std::uintptr_t>(other),
            static_cast<std::uint64_t>(kind) | std::uint64_t{level} << 8U |
                std::uint64_t{before} << 16U | std::uint64_t{has_started} << 24U |
                std::uint64_t{from} << 32U | std::uint64_t{count} << 48U};
  }
  [[nodiscard]] static TraceEvent from_words(const Words& words) noexcept {
    const std::uint64_t rest = words[3];
    return {.time = words[0],
            .what = std::bit_cast<const void*>(static_cast<std::uintptr_t>(words[1])),
            .other = std::bit_cast<const void*>(static_cast<std::uintptr_t>(words[2])),
            .kind = static_cast<TraceKind>(rest & 0xFFU),
            .level = static_cast<std::uint8_t>(rest >> 8U),
            .before = static_cast<std::uint8_t>(rest >> 16U),
            .has_started = (rest >> 24U & 1U) != 0,
            .from = static_cast<std::uint16_t>(rest >> 32U),
            .count = static_cast<std::uint16_t>(rest >> 48U)};
  }
};

}  // namespace HEIST_NAMESPACE::detail
