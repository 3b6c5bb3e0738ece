// TaskSource: where tasks come from that no Scheduler posts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE {

/// Where a plain task comes from. All sources stand beside user-visible tasks, in one order by age:
/// below user-visible continuations and everything user-blocking, above everything background. Only
/// AbortSignal::timeout comes before everything else (DLY-6).
///
/// It has 32 bits because it is an argument of the library (detail::TaskOutcome says why).
///
/// Spec: [html#task-source], [sched#sec-patches-html].
enum class TaskSource : std::uint32_t {
  timer,    ///< set_timeout, AbortSignal::timeout
  io,       ///< completions of input and output
  message,  ///< what other threads or processes send
  user,     ///< input of a user
};
inline constexpr std::size_t task_source_count = 4;

/// How many plain tasks of each source a loop has run; index by the source's value.
using SourceCounts = std::array<std::uint64_t, task_source_count>;

}  // namespace HEIST_NAMESPACE
