// TraceEvent: one thing that happened while a Trace ran, as a thread keeps it.
#pragma once

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

/// Which fields say something depends on the kind. It fills four words, so that a ring can keep it
/// without a lock.
struct TraceEvent {
  static constexpr std::uint16_t unknown_agent = 0xFFFF;

  std::uint64_t time = 0;       ///< in the unit of TraceTime; whoever records it says none
  const void* what = nullptr;   ///< the task, or the signal; only an identity
  const void* other = nullptr;  ///< start: its signal, or null.  Else the label's text, or null
  TraceKind kind = TraceKind::post;
  std::uint8_t level = 0;    ///< post, start: the level.  priority: the TaskPriority from now on
  std::uint8_t before = 0;   ///< priority: the TaskPriority until now
  bool has_started = false;  ///< abort: the task had started
  std::uint16_t from = 0;    ///< steal: the agent that had the tasks
  std::uint16_t count = 0;   ///< steal: how many tasks
};
static_assert(sizeof(TraceEvent) == 32);

}  // namespace HEIST_NAMESPACE::detail
