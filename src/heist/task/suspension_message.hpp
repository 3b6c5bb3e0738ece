// SuspensionMessage: asks the owner of a scheduler's home to suspend or resume it (SUS-1).
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/version.hpp>
#include <memory>

#include "scheduler_core.hpp"

namespace HEIST_NAMESPACE::detail {

/// In the inbox, so behind what was posted before and ahead of every pick that begins afterwards.
/// It is later than the call, by whose time delays stop and go on. In a cluster it has the number
/// of its change: of several threads the last decides for what is runnable (SuspendedTasks), and so
/// for what is delayed, in whatever order their messages come.
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
