// ClusterLoop: an agent of a cluster that a test drives as if it were its own event loop.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <heist/agent_cluster.hpp>
#include <mutex>
#include <optional>

namespace heist::support {

using namespace detail;

/// Ends the test as skipped, however deep inside it the call is.
[[noreturn]] void skip_test(const char* why);

/// A task that holds its agent. Meanwhile the agent does what the test's thread says.
class Hold {
 public:
  /// Called on the agent: holds it until release().
  void serve();

  // What the test's thread calls.

  /// Does `work()` on the agent, in the task that holds it, and waits for its end.
  void run(std::function<void()> work);
  /// Lets the agent go on.
  void release();
  /// Waits until a task holds the agent.
  void wait();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
  bool holds_ = false;
};

/// The first agent of a cluster. It is held except during the calls that run tasks. If it is the
/// only agent, its tasks go through the scheduler of the cluster.
///
/// Thread: the test's.
class ClusterLoop {
 public:
  explicit ClusterLoop(unsigned agents);
  ClusterLoop(const ClusterLoop&) = delete;
  ClusterLoop& operator=(const ClusterLoop&) = delete;
  ~ClusterLoop();

  [[nodiscard]] Scheduler scheduler() const noexcept { return scheduler_; }
  [[nodiscard]] LoopCore& core() const noexcept;

  // These do the same as those of EventLoop.
  [[nodiscard]] Scheduler create_scheduler();
  std::size_t run_until_idle();
  [[nodiscard]] std::size_t pending();

  /// Does the work on the agent, between two tasks.
  void on_agent(const std::function<void(LoopCore&)>& work);
  /// Runs the tasks that have the highest level of all now.
  void run_most_urgent();

 private:
  void hold_when_idle();
  void hold_next();

  Hold hold_;
  std::uint64_t looks_ = 0;  ///< agent only: how many tasks were ours, not the test's
  AgentCluster cluster_;
  Agent& first_ = cluster_.agent(0);
  Scheduler scheduler_;
  std::optional<Scheduler> own_;  ///< for tasks of ours, whatever the test does with its schedulers
};

}  // namespace heist::support
