// make_parallel_scheduler_backend: lets a loop or cluster run std::execution's parallel_scheduler.
// It needs the targets heist::execution and heist::parallel. A program that links
// heist::parallel_scheduler need not include it.
#pragma once

#include <cstddef>
#include <heist/execution/backend_operation.hpp>
#include <heist/execution/library.hpp>
#include <heist/execution/task_scheduler.hpp>
#include <heist/priority.hpp>
#include <heist/scheduler.hpp>
#include <memory>
#include <span>
#include <utility>

namespace HEIST_NAMESPACE::execution {

/// What stands behind a parallel_scheduler.
class ParallelSchedulerBackend final : public replacement::parallel_scheduler_backend {
 public:
  /// Runs everything in tasks of that scheduler, at that priority.
  ParallelSchedulerBackend(Scheduler on, TaskPriority priority)
      : on_(std::move(on)), scheduler_(as_scheduler(on_, priority)) {}

  void schedule(replacement::receiver_proxy& proxy,
                std::span<std::byte> scratch) noexcept override {
    BackendOperation<ProxyTurn>::start(scheduler_, {&proxy}, scratch);
  }
  void schedule_bulk_chunked(std::size_t count, replacement::bulk_item_receiver_proxy& proxy,
                             std::span<std::byte> scratch) noexcept override {
    BackendOperation<ProxyBulk>::start(scheduler_, {&proxy, count, true}, scratch);
  }
  void schedule_bulk_unchunked(std::size_t count, replacement::bulk_item_receiver_proxy& proxy,
                               std::span<std::byte> scratch) noexcept override {
    BackendOperation<ProxyBulk>::start(scheduler_, {&proxy, count, false}, scratch);
  }

 private:
  const Scheduler on_;  ///< keeps what the other one refers to
  const TaskScheduler scheduler_;
};

/// A backend that runs everything in tasks of this scheduler at this priority. A program returns
/// one from `query_parallel_scheduler_backend()`, each time the same, to replace the system's.
///
/// Spec:     contract SND-10.   Thread: any.
/// Cost:     nothing is allocated for an operation if its frontend lends 72 bytes, or 88 for bulk.
/// Errors:   as as_scheduler().
/// Lifetime: once its loop or cluster is closed, everything is stopped.
[[nodiscard]] inline std::shared_ptr<replacement::parallel_scheduler_backend>
make_parallel_scheduler_backend(const Scheduler& scheduler,
                                TaskPriority priority = TaskPriority::user_visible) {
  return std::make_shared<ParallelSchedulerBackend>(scheduler, priority);
}

}  // namespace HEIST_NAMESPACE::execution
