// AgentCluster: agents that share stealable tasks; blocking: one of them waits in a system call.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <heist/agent.hpp>
#include <heist/detail/durations.hpp>
#include <heist/detail/export.hpp>
#include <heist/detail/misuse.hpp>
#include <heist/detail/ref.hpp>
#include <heist/event_loop.hpp>
#include <heist/scheduler.hpp>
#include <heist/topology.hpp>
#include <heist/version.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace HEIST_NAMESPACE {

/// How many agents a cluster has, where they run, and what they do beside tasks.
struct AgentClusterOptions {
  /// How many agents; at most 1024. With zero the environment variable HEIST_AGENTS says it;
  /// without that it is the number of CPUs that this process may use (by the hardware, the thread's
  /// affinity and the quota of its cgroup).
  unsigned agents = 0;
  /// The names of the threads begin with it: "heist-0", "heist-1" and so on.
  std::string name = "heist";
  /// Agent i runs on the i-th CPU that the calling thread may use, over and over.
  bool pin = false;
  /// The parts of a large machine: numa_nodes() and last_level_caches() find them. The agents are
  /// divided among them by the number of CPUs, with consecutive indices. They run on the CPUs of
  /// their group only, with `pin` on one each, over and over. Threads that their tasks start
  /// inherit that. Without `agents` and HEIST_AGENTS there are at most as many as CPUs in all
  /// groups. Reserves run on all CPUs of the calling thread.
  ///
  /// A task that another thread posts with a fixed priority stands in line in the group of the CPU
  /// on which that thread runs. Agents look for tasks in their own group first, and wake an agent
  /// of it first. So tasks of one priority, of different groups, may overtake each other (CLU-2).
  /// Priorities are as strict as ever (CLU-1).
  ///
  /// CPUs that the calling thread may not use are left out. What is posted from a CPU of several
  /// groups stands in line in the first. By default there is one group, which runs anywhere.
  Topology topology = {};
  /// How many extra threads, called reserves, may run stealable tasks in place of agents that are
  /// in blocking(). Each is started when it is needed for the first time. By default there are as
  /// many as agents. There are at most 1024 threads in all, and a cluster of one agent has no
  /// reserves.
  std::optional<unsigned> reserves = {};
  /// How long a reserve sleeps before its thread ends. When it is needed again, another thread is
  /// started.
  std::chrono::nanoseconds reserve_idle = std::chrono::seconds(10);
  /// Called on each agent's thread, with its index, before its first task and after its last one.
  /// They are called on reserves, too, whose indices follow the agents': once for each thread that
  /// is started. What they throw there goes to the error hook.
  std::function<void(unsigned)> on_start = {};
  std::function<void(unsigned)> on_stop = {};
  /// What the agents serve beside their tasks, and where they sleep: one host for each agent, and
  /// none of them null, or no hosts at all. Without `agents` there are as many agents as hosts.
  /// Reserves have none: while an agent is in blocking(), its host waits.
  std::vector<AgentHost*> hosts = {};
  /// Options of each agent's loop, which hold for the cluster's own delays and maximum waits, too.
  /// A virtual clock is refused.
  EventLoopOptions loop = {};
};

/// What a cluster has done so far; approximate while it runs.
struct ClusterStats {
  /// Those of all its agents, as EventLoopStats counts them.
  std::uint64_t tasks_run = 0;
  std::uint64_t stolen = 0;        ///< tasks and continuations that an agent took from another one
  std::uint64_t wakeups_sent = 0;  ///< system calls made to wake its agents
  std::uint64_t sleeps = 0;        ///< how often an agent went to sleep
};

/// A number of agents, with stealable tasks that any of them runs: always the most urgent first, in
/// the whole cluster. With one agent its tasks are that agent's, in exact order.
///
/// Spec:     [html#agents-and-agent-clusters], contract CLU-1...4.
/// Thread:   any.   Lifetime: the destructor closes with abort and joins the threads; it must not
///         run on one of them.
class HEIST_EXPORT AgentCluster {
 public:
  /// Starts the threads; returns once each on_start has run.
  ///
  /// Errors: as Agent; std::invalid_argument for more than 1024 agents, too many reserves, a
  /// negative reserve_idle, hosts that are null or not as many as the agents, a group of the
  /// topology without a CPU that the calling thread may use, and for a HEIST_AGENTS that is no such
  /// number.
  explicit AgentCluster(AgentClusterOptions options = {});
  AgentCluster(const AgentCluster&) = delete;
  AgentCluster& operator=(const AgentCluster&) = delete;
  ~AgentCluster();

  /// The scheduler of stealable tasks, which run on any agent. Within a priority they start nearly
  /// in the order of their posts (CLU-2).
  ///
  /// Cost: one reference.
  [[nodiscard]] Scheduler scheduler() const noexcept;

  /// One of its agents; agent(i).scheduler() is bound to it.   Errors: std::out_of_range.
  [[nodiscard]] Agent& agent(unsigned index) const;
  [[nodiscard]] unsigned size() const noexcept;

  /// Ends the cluster and waits for its agents, as Agent::close; while draining, tasks may go on
  /// posting to all schedulers of the cluster. Idempotent. What is dropped may be destroyed on the
  /// calling thread, and must not call it.
  ///
  /// Thread: any but its agents' own.   Blocks: yes.   Errors: NotAllowedError on an agent's
  ///         thread.
  CloseReport close(const CloseMode& mode);

  /// What it has done so far.   Thread: any.   Cost: some loads for each agent.
  [[nodiscard]] ClusterStats stats() const noexcept;
  /// What the cluster and its agents have done so far, what waits there, and for how long.
  ///
  /// Thread: any.   Blocks: while another thread calls this.   Errors: std::bad_alloc.
  /// Cost:   some microseconds for each agent, a read of each bin that may hold tasks, and a step
  ///         for each task that moves with a signal.
  [[nodiscard]] ClusterMetrics metrics() const;
  /// As EventLoop::set_sampling(), for the cluster and all its agents.
  void set_sampling(std::uint32_t every);

  /// While an object of this class lives, agents that run out of work look for some instead of
  /// going to sleep. They answer sooner, and take all of their CPUs: use it for a short time in
  /// which work is known to come. Agents that sleep already do so until they are woken.
  ///
  /// Thread: any.   Blocks: never.   Cost: one atomic operation.
  class HotPhase {
   public:
    /// The phase begins.
    explicit HotPhase(const AgentCluster& cluster) noexcept;
    HotPhase(const HotPhase&) = delete;
    HotPhase& operator=(const HotPhase&) = delete;
    ~HotPhase();

   private:
    detail::Ref<detail::TaskHome> home_;
  };
  /// A hot phase that lasts as long as the result lives.
  [[nodiscard]] HotPhase hot_phase() const noexcept { return HotPhase(*this); }

 private:
  struct HEIST_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

/// For blocking(): the part of a task in which its thread is lost to its cluster.
class HEIST_EXPORT BlockingScope {
 public:
  BlockingScope() noexcept;
  BlockingScope(const BlockingScope&) = delete;
  BlockingScope& operator=(const BlockingScope&) = delete;
  ~BlockingScope();

 private:
  detail::Member* member_;  ///< null: this scope has changed nothing
};

/// Calls `f` here, on this thread: around a system call, a lock or a library that blocks. Meanwhile
/// an extra thread of the cluster, a reserve, runs stealable tasks in place of this agent. What is
/// bound to this agent waits.
///
/// It is a plain call, without a reserve, within another blocking(), on threads of no cluster, in a
/// cluster of one agent (whose tasks are bound to it, in exact order), and when all reserves that
/// AgentClusterOptions::reserves allows are at work, or the system has no thread to give.
///
/// Thread: any.   Blocks: as `f` does, and while a thread is made, if one is needed.
/// Errors: what `f` throws.
/// Cost:   two read-modify-writes; a wake-up if a reserve has to be woken.
template <std::invocable F>
decltype(auto) blocking(F&& f) {
  detail::check_callback(f, "blocking");
  const BlockingScope scope;
  return std::invoke(std::forward<F>(f));
}

}  // namespace HEIST_NAMESPACE
