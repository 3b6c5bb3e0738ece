// Words for what dumps and the watchdog tell.
#pragma once

#include <chrono>
#include <heist/metrics.hpp>
#include <heist/task_label.hpp>
#include <string>

namespace HEIST_NAMESPACE::detail {

/// A time in the unit that gives a number from one to a thousand: "153 ms".
[[nodiscard]] std::string describe(std::chrono::nanoseconds time);
/// The label and its place, or words that say that there is none.
[[nodiscard]] std::string describe(const TaskLabel& label);
[[nodiscard]] std::string describe(const RunningMetrics& running);

}  // namespace HEIST_NAMESPACE::detail
