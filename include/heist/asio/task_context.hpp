// TaskContext: the execution context of executors that run handlers as tasks.
#pragma once

#include <cstddef>
#include <heist/asio/library.hpp>
#include <heist/detail/sync.hpp>
#include <heist/version.hpp>

namespace HEIST_ASIO_NAMESPACE {

/// The execution context that Executor names. Make it before the loop or the cluster of the
/// executor, so that it is destroyed after that one has closed: no handler runs any more then. Make
/// it before the io_context, too, whose waiting operations count as work of their handlers here.
///
/// A strand whose loop is closed keeps its handlers, and the coroutines that were to end on it,
/// until this context is destroyed. That comes after the io_context, so they must not have sockets
/// or timers of it any more: abort what runs on strands, and let it end, before you close their
/// loop.
///
/// An I/O object or a timer that is made on an Executor, instead of on an io_context, makes Asio
/// start a thread of its own, which belongs to this context.
///
/// Thread:   any.
/// Lifetime: it outlives its executors that track work, and every handler of its executors.
/// Spec:     contract ASIO-4, ASIO-5.
class TaskContext : public net::execution_context {
 public:
  TaskContext() = default;
  TaskContext(const TaskContext&) = delete;
  TaskContext& operator=(const TaskContext&) = delete;
  /// Shuts the services down. That destroys the handlers of operations which still wait.
  ~TaskContext() {
    shutdown();
    destroy();
  }

  /// How many executors exist that were made with `outstanding_work.tracked`.
  ///
  /// Thread: any; approximate while others make or destroy some.   Cost: one load.
  [[nodiscard]] std::size_t outstanding_work() const noexcept {
    return works_.load(detail::sync::relaxed);  // relaxed: a number that nothing else depends on.
  }

 private:
  friend class TrackedWork;
  void add_work() noexcept {
    works_.fetch_add(1, detail::sync::relaxed);  // relaxed: as above.
  }
  void drop_work() noexcept {
    works_.fetch_sub(1, detail::sync::relaxed);  // relaxed: as above.
  }

  detail::sync::atomic<std::size_t> works_{0};
};

}  // namespace HEIST_ASIO_NAMESPACE
