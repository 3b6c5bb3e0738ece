// SuspensionMessage: asks the owner of a scheduler's home to suspend or resume it (SUS-1).
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/version.hpp>
#include <memory>

#include "scheduler_core.hpp"

namespace HEIST_NAMESPACE::detail {

/// The message goes through the inbox, so it comes behind what was posted before, and ahead of
/// every pick that begins afterwards. It comes later than the call, but delays stop and go on at
/// the time of the call. In a cluster it carries the number of its change. If several threads
/// suspend and resume, the last change decides for tasks that are runnable (SuspendedTasks). By its
/// number it decides for delays too, in whatever order the messages come.
struct SuspensionMessage : LoopNode {
  /// Errors: std::bad_alloc.
  SuspensionMessage(SchedulerCore& target, bool to_suspend);

  SchedulerCore& scheduler;
  const bool suspends;
  const std::chrono::nanoseconds at;
  std::uint64_t change = 0;
  std::unique_ptr<SchedulerDelays> delays;

 private:
  static void take(LoopNode& node, TaskHome& home) noexcept;
  static void drop(LoopNode& node) noexcept;
  static const MessageOps table;
};

}  // namespace HEIST_NAMESPACE::detail
