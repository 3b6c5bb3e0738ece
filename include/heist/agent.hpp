// Agent: a thread that owns one event loop.
#pragma once

#include <concepts>
#include <functional>
#include <heist/agent_host.hpp>
#include <heist/detail/export.hpp>
#include <heist/event_loop.hpp>
#include <heist/version.hpp>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE {

/// The thread of an agent, and what it does beside tasks.
struct AgentOptions {
  /// Name of the thread, as tools show it (the system keeps the first 15 characters).
  std::string name = "heist-agent";
  /// The CPU to run on; by default any.
  std::optional<int> affinity = {};
  /// Called on the agent's thread before its first task and after its last one.
  std::function<void()> on_start = {};
  std::function<void()> on_stop = {};
  /// What the agent serves beside its tasks, and where it sleeps; by default nothing.
  AgentHost* host = nullptr;
  /// Options of its loop. A virtual clock is refused.
  EventLoopOptions loop = {};
};

/// A thread that runs one event loop.
///
/// Spec:     [html#agents-and-agent-clusters].
/// Thread:   any.   Lifetime: the destructor closes with abort and joins the thread; it must not
/// run on the agent's own thread.
class HEIST_EXPORT Agent {
 public:
  /// Starts the thread; returns once on_start has run.
  ///
  /// Errors: std::system_error (no thread, no such CPU), what on_start and the host's begin()
  /// throw, std::invalid_argument as EventLoop; a virtual clock is refused, as nobody could advance
  /// it.
  explicit Agent(AgentOptions options = {});
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;
  ~Agent();

  /// Scheduler bound to this agent.   Cost: one reference.
  [[nodiscard]] Scheduler scheduler() const noexcept;

  /// As EventLoop::queue_task, on the agent's loop.
  template <class Callback>
    requires std::invocable<std::decay_t<Callback>&>
  bool queue_task(TaskSource source, Callback&& callback) const {
    return detail::queue_task_on(core(), source, std::forward<Callback>(callback));
  }

  /// That of AgentOptions; for an agent of a cluster with its index.
  [[nodiscard]] const std::string& name() const noexcept;

  /// The agent whose thread this is, or null.
  [[nodiscard]] static Agent* current() noexcept;

  /// Ends the agent and waits for it, until the mode's deadline, or that of a later call, at the
  /// latest. A task that still runs then has its promise rejected (ABT-6), and the destructor waits
  /// for it. Later calls may be stricter, and so hurry this one; each returns what is known by
  /// then.
  ///
  /// Thread: any but the agent's own.   Blocks: yes.
  /// Errors: NotAllowedError on its own thread, and for an agent of a cluster: close the cluster
  ///         instead.
  CloseReport close(const CloseMode& mode);

  /// What its loop has done so far.   Thread: any.
  [[nodiscard]] EventLoopStats stats() const noexcept;
  /// These two do what EventLoop's do. They say nothing of what waits in a cluster for any agent:
  /// AgentCluster::metrics() does.
  [[nodiscard]] LoopMetrics metrics() const;
  void set_sampling(std::uint32_t every);

 private:
  friend class AgentCluster;
  friend struct detail::Access;
  struct NotStarted {};
  /// An agent of a cluster, which has to call start().
  Agent(AgentOptions options, NotStarted);
  void start();
  /// To be called instead of start() for a reserve of a cluster, which wake_reserve() starts
  /// whenever it is needed.
  void make_reserve() noexcept;
  /// For a reserve: wakes its thread, or starts one. When the system has none to give, the cluster
  /// does without this reserve.
  ///
  /// Blocks: while a thread is started.
  void wake_reserve() noexcept;
  [[nodiscard]] detail::LoopCore& core() const noexcept;
  /// Closes the agent, unless that was done before, and waits for its thread.
  void join();
  /// Asks the agent to close, without waiting. A cluster asks all of its agents, and then waits for
  /// each with await_close().
  void request_close(const CloseMode& mode);
  void await_close(const detail::CloseCall& call);

  struct HEIST_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

/// As resume_on(scheduler), on this agent.
[[nodiscard]] inline Yield resume_on(const Agent& agent) { return resume_on(agent.scheduler()); }

}  // namespace HEIST_NAMESPACE
