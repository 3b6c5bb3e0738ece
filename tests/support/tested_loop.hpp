// TestedLoop: the event loop of a test, which may be an agent of a cluster.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <heist/event_loop.hpp>
#include <memory>
#include <utility>

#include "support/cluster_loop.hpp"

namespace heist::support {

using namespace detail;

/// An event loop with a virtual clock. With HEIST_TEST_AGENTS in the environment it is the first
/// agent of a cluster of that many. Then tests that move the clock, or call needs_driver(), are
/// skipped.
///
/// Thread: that of the test, which drives the loop.
class TestedLoop {
 public:
  TestedLoop();

  [[nodiscard]] Scheduler scheduler() const {
    return in_cluster_ ? in_cluster_->scheduler() : own_->scheduler();
  }
  [[nodiscard]] Scheduler create_scheduler() {
    return in_cluster_ ? in_cluster_->create_scheduler() : own_->create_scheduler();
  }
  template <class Callback>
  bool queue_task(TaskSource source, Callback&& callback) const {
    return queue_task_on(core(), source, std::forward<Callback>(callback));
  }
  std::size_t run_until_idle() {
    return in_cluster_ ? in_cluster_->run_until_idle() : own_->run_until_idle();
  }
  [[nodiscard]] std::size_t pending() {
    return in_cluster_ ? in_cluster_->pending() : own_->pending();
  }
  [[nodiscard]] LoopCore& core() const {
    return in_cluster_ ? in_cluster_->core() : Access::core(*own_);
  }

  /// Does the work on the loop's thread, between two tasks.
  void on_agent(const std::function<void(LoopCore&)>& work);
  /// Runs a task that has just been posted with the highest level of all, and no other.
  void run_most_urgent();
  /// To be called by a test that has to be the thread that drives the loop, or has to be alone on
  /// it.
  void needs_driver() const;

  void advance(std::chrono::nanoseconds duration) { own().advance(duration); }
  void spend(std::chrono::nanoseconds duration) { own().spend(duration); }
  [[nodiscard]] std::chrono::nanoseconds now() const { return own().now(); }
  void run() { own().run(); }
  bool run_one() { return own().run_one(); }
  std::size_t poll() { return own().poll(); }
  void stop() { own().stop(); }
  CloseReport close(const CloseMode& mode) { return own().close(mode); }
  [[nodiscard]] EventLoopStats stats() const { return own().stats(); }

 private:
  [[nodiscard]] EventLoop& own() const {
    needs_driver();
    return *own_;
  }

  std::unique_ptr<EventLoop> own_;
  std::unique_ptr<ClusterLoop> in_cluster_;
};

}  // namespace heist::support
