#include <algorithm>
#include <array>
#include <heist/agent_cluster.hpp>
#include <heist/detail/access.hpp>
#include <heist/error.hpp>
#include <mutex>
#include <optional>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "../cluster/cluster_core.hpp"
#include "../cluster/placement.hpp"
#include "../loop/close_calls.hpp"
#include "../loop/drive_scope.hpp"
#include "../loop/loop_core.hpp"
#include "../loop/loop_options.hpp"
#include "../os/cpu_limit.hpp"
#include "../os/fork_watch.hpp"
#include "../os/thread.hpp"
#include "gather_metrics.hpp"

namespace HEIST_NAMESPACE {

using namespace detail;

namespace {

unsigned checked_size(const AgentClusterOptions& options) {
  const std::size_t wanted = options.agents != 0 ? options.agents : options.hosts.size();
  if (wanted == 0) {
    std::set<unsigned> cpus;
    for (const auto& group : options.topology) cpus.insert(group.begin(), group.end());
    return default_agents(IdleAgents::most_agents, static_cast<unsigned>(cpus.size()));
  }
  if (wanted > IdleAgents::most_agents) {
    throw std::invalid_argument("AgentClusterOptions::agents: " + std::to_string(wanted) +
                                " is more than " + std::to_string(IdleAgents::most_agents));
  }
  return static_cast<unsigned>(wanted);
}

/// To be called once the number of agents is known.
void check_hosts(const AgentClusterOptions& options) {
  if (options.hosts.empty()) return;
  if (options.hosts.size() != options.agents) {
    throw std::invalid_argument("AgentClusterOptions::hosts: there are " +
                                std::to_string(options.hosts.size()) + ", and " +
                                std::to_string(options.agents) + " agents");
  }
  if (std::ranges::find(options.hosts, nullptr) != options.hosts.end())
    throw std::invalid_argument("AgentClusterOptions::hosts: one of them is null");
}

unsigned checked_reserves(const AgentClusterOptions& options) {
  const unsigned most = IdleAgents::most_agents - options.agents;
  const unsigned wanted = options.reserves.value_or(std::min(options.agents, most));
  if (wanted > most) {
    throw std::invalid_argument("AgentClusterOptions::reserves: " + std::to_string(wanted) +
                                " is more than " + std::to_string(most) + ", as there may be " +
                                std::to_string(IdleAgents::most_agents) + " threads in all");
  }
  if (options.reserve_idle < options.reserve_idle.zero()) {
    throw std::invalid_argument("AgentClusterOptions::reserve_idle must not be negative");
  }
  return options.agents == 1 ? 0 : wanted;
}

/// The groups without the CPUs that are not in `all`.
Topology checked_topology(Topology topology, const std::vector<unsigned>& all) {
  for (std::size_t group = 0; group < topology.size(); ++group) {
    std::erase_if(topology[group],
                  [&all](unsigned cpu) { return !std::ranges::binary_search(all, cpu); });
    if (topology[group].empty()) {
      throw std::invalid_argument("AgentClusterOptions::topology: group " + std::to_string(group) +
                                  " has no CPU that the calling thread may use");
    }
  }
  return topology;
}

/// Where the agents run. Agents that are pinned are confined to the CPUs of the calling thread.
Placement placement_of(const AgentClusterOptions& options) {
  if (!options.topology.empty()) return {options.topology, options.agents};
  if (options.pin) return {Topology{CpuSet().cpus()}, options.agents};
  return Placement(options.agents);
}

}  // namespace

/// The mutex orders only closers, which hold it for a moment. Tasks never meet it.
struct AgentCluster::Impl final : ReserveThreads {
  explicit Impl(AgentClusterOptions options);
  ~Impl();

  [[nodiscard]] AgentOptions options_of(unsigned index) const;
  void confine(unsigned index, bool is_reserve) const;
  [[nodiscard]] ReserveSetup make_members();
  void make_single();
  void make_cluster(const ReserveSetup& reserves);
  void start();
  void join();
  void wake_reserve(unsigned member) noexcept override { agents[member]->wake_reserve(); }
  void leave_unstarted(LoopCore& core);
  [[nodiscard]] bool is_own_thread() const noexcept;
  CloseReport close(const CloseMode& mode);
  void check_closer() const;
  void close_members(const CloseMode& mode);
  void begin_close(const CloseMode& mode);
  void tighten(const CloseMode& mode);
  [[nodiscard]] bool is_lost() const noexcept { return ForkWatch::has_lost(home.get()); }
  [[nodiscard]] std::uint64_t tasks_ended() const noexcept;
  [[nodiscard]] CloseReport report() const noexcept;

  AgentClusterOptions options;
  Placement placement{1};
  Ref<ClusterCore> cluster;            ///< null: there is one agent, and no more than its loop
  Ref<TaskHome> home;                  ///< the cluster, or that loop
  SchedulerCore* scheduler = nullptr;  ///< a scheduler of that home, and not the agent's own
  std::optional<CpuSet> all_cpus;      ///< kept when agents are confined, because reserves are not
  std::vector<std::unique_ptr<Agent>>
      agents;  ///< and reserves; go first, also when one of them does not start
  std::mutex closing;
  bool is_closing = false;               ///< guarded by closing
  std::uint64_t ended_before_close = 0;  ///< guarded by closing
  std::optional<ForkWatch> fork_watch;   ///< of the cluster
};

AgentCluster::Impl::Impl(AgentClusterOptions given) : options(std::move(given)) {
  if (!options.topology.empty())
    options.topology = checked_topology(std::move(options.topology), CpuSet().cpus());
  options.agents = checked_size(options);
  check_hosts(options);
  placement = placement_of(options);
  if (placement.is_confined()) all_cpus.emplace();
  const ReserveSetup reserves = make_members();
  agents.size() == 1 ? make_single() : make_cluster(reserves);
  start();
}

void AgentCluster::Impl::make_single() {
  LoopCore& loop = agents[0]->core();
  home = Ref<TaskHome>::share(&loop);
  scheduler = &loop.add_scheduler();
}

void AgentCluster::Impl::make_cluster(const ReserveSetup& reserves) {
  std::vector<Ref<LoopCore>> loops;
  for (const auto& agent : agents) loops.push_back(Ref<LoopCore>::share(&agent->core()));
  cluster = ClusterCore::make(options.loop, std::move(loops), reserves, placement);
  home = Ref<TaskHome>::share(cluster.get());
  fork_watch.emplace(home.get(), &ClusterCore::lose_agent);
  scheduler = &home->first_scheduler();
}

ReserveSetup AgentCluster::Impl::make_members() {
  const ReserveSetup reserves{
      .count = checked_reserves(options), .idle = options.reserve_idle, .threads = this};
  for (unsigned index = 0; index < options.agents + reserves.count; ++index) {
    agents.push_back(std::unique_ptr<Agent>(new Agent(options_of(index), Agent::NotStarted())));
    if (index >= options.agents) agents.back()->make_reserve();
  }
  return reserves;
}

void AgentCluster::Impl::start() {
  std::size_t started = 0;
  try {
    for (; started < options.agents; ++started) agents[started]->start();
  } catch (...) {
    for (; started < options.agents; ++started) leave_unstarted(agents[started]->core());
    join();
    throw;
  }
}

/// Called before any agent is destroyed, because their tasks may wake reserves. Reserves without a
/// thread end here. They come before the agents, because the last member that leaves drops what is
/// left, and that should be another one.
void AgentCluster::Impl::join() {
  for (const auto& agent : std::views::reverse(agents)) agent->join();
}

/// The last member drops what the others have left, even if that member never ran.
void AgentCluster::Impl::leave_unstarted(LoopCore& core) {
  if (!cluster) return;
  const DriveScope driving(core);
  core.assert_agent();
  cluster->closing().leave(core);
}

AgentOptions AgentCluster::Impl::options_of(unsigned index) const {
  AgentOptions result{.name = options.name + "-" + std::to_string(index), .loop = options.loop};
  const bool is_reserve = index >= options.agents;
  if (!options.hosts.empty() && !is_reserve) result.host = options.hosts[index];
  if (options.pin && !is_reserve) result.affinity = placement.cpu_of(index);
  if (options.on_start || placement.is_confined()) {
    result.on_start = [this, index, is_reserve] {
      if (placement.is_confined()) confine(index, is_reserve);
      if (options.on_start) options.on_start(index);
    };
  }
  if (options.on_stop) result.on_stop = [this, index] { options.on_stop(index); };
  return result;
}

void AgentCluster::Impl::confine(unsigned index, bool is_reserve) const {
  if (is_reserve)
    return static_cast<void>(all_cpus->use());  // an error leaves it where its maker runs
  if (options.pin) return;
  const int error = CpuSet(placement.cpus_of(index)).use();
  if (error == 0) return;
  throw std::system_error(error, std::generic_category(),
                          "AgentClusterOptions::topology: agent " + std::to_string(index) +
                              " cannot run on the CPUs of its group");
}

AgentCluster::Impl::~Impl() {
  join();
  agents.clear();
  if (cluster) cluster->free_keeper_state();
}

bool AgentCluster::Impl::is_own_thread() const noexcept {
  for (const auto& agent : agents) {
    if (Agent::current() == agent.get()) return true;
  }
  return false;
}

void AgentCluster::Impl::check_closer() const {
  if (is_lost()) {
    throw NotAllowedError(
        "AgentCluster::close in a child of fork: only the parent has its threads");
  }
  if (is_own_thread()) {
    throw NotAllowedError("AgentCluster::close on an agent's own thread would wait for itself");
  }
}

CloseReport AgentCluster::Impl::close(const CloseMode& mode) {
  check_closer();
  const CloseCall call(mode);
  close_members(mode);
  for (const auto& agent : agents) agent->await_close(call);
  return report();
}

/// Every closer does all of it, so that no closer waits for another one's end.
void AgentCluster::Impl::close_members(const CloseMode& mode) {
  begin_close(mode);
  if (!cluster) return agents[0]->request_close(mode);
  auto& end = cluster->closing();
  tighten(mode);
  DrainWatch watch(cluster->close_terms());
  while (!end.wait_until_quiet(cluster->close_terms(), watch.due())) {
    watch.look([&end] { return end.find_obstacle(); });
  }
  tighten(CloseMode::abort());  // then other drains have nobody to wait for
  for (const auto& agent : std::views::reverse(agents)) agent->request_close(CloseMode::abort());
  end.drop_for_closer();
}

/// An abort refuses what is bound to an agent as soon as that agent is asked to close.
void AgentCluster::Impl::begin_close(const CloseMode& mode) {
  {
    const std::lock_guard lock(closing);
    if (!std::exchange(is_closing, true)) ended_before_close = tasks_ended();
  }
  if (!cluster) return;
  cluster->refuse_tasks();
  if (mode.kind == CloseMode::Kind::abort) return;
  for (const auto& agent : agents) agent->core().refuse_tasks();
}

/// When others have asked before, the stricter terms count.
void AgentCluster::Impl::tighten(const CloseMode& mode) {
  cluster->close_terms().tighten(mode);
  cluster->closing().hurry_closers();
}

namespace {

/// What agents run. Agents that run parts of one tree count as one.
class RunningOnes {
 public:
  void add(const Running& running) noexcept {
    if (running.what == nullptr) return;
    const auto end = all_.begin() + size_;
    const auto found = std::find_if(
        all_.begin(), end, [&running](const Running& other) { return other.what == running.what; });
    if (found == end) ++size_;
    *found = {running.what, running.is_counted || found->is_counted};
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return static_cast<std::uint64_t>(size_); }
  [[nodiscard]] std::uint64_t counted() const noexcept {
    return static_cast<std::uint64_t>(std::ranges::count_if(all_, &Running::is_counted));
  }

 private:
  std::array<Running, IdleAgents::most_agents> all_{};
  std::ptrdiff_t size_ = 0;
};

}  // namespace

std::uint64_t AgentCluster::Impl::tasks_ended() const noexcept {
  RunningOnes running;
  std::uint64_t begun = 0;
  for (const auto& agent : agents) {
    const TasksBegun of_agent = agent->core().counts().begun();
    begun += of_agent.count;
    running.add(of_agent.running);
  }
  return begun - std::min(begun, running.counted());
}

CloseReport AgentCluster::Impl::report() const noexcept {
  CloseReport sum;
  RunningOnes running;
  std::uint64_t begun = 0;
  for (const auto& agent : agents) {
    const TaskTally tally = agent->core().counts().tally();
    begun += tally.begun;
    sum.aborted += tally.dropped;
    sum.not_started += tally.not_started;
    running.add(tally.running);
  }
  if (cluster) sum.aborted += cluster->closing().dropped();
  const auto not_ran = ended_before_close + running.counted();
  sum.ran = begun - std::min(begun, not_ran);
  sum.still_running = running.size();
  return sum;
}

namespace {

/// Adds what belongs to no agent.
void add_shared(ClusterMetrics& to, ClusterCore& cluster) {
  to.rejected += cluster.closing().dropped();
  to.delayed = cluster.waiting().size();
  to.timer_lateness = histogram_of(counted(cluster.waiting().lateness()), 1);
  add_oldest(to.levels, cluster);
  for (int level = 0; level < level_count; ++level) {
    LevelMetrics& metrics = to.levels.at(static_cast<std::size_t>(level));
    metrics.aborted += cluster.taken_back(level) + cluster.closing().found_aborted(level);
    metrics.rejected += cluster.closing().found(level);
    metrics.waiting += cluster.count_waiting(level);
    metrics.posted = metrics.run + metrics.aborted + metrics.rejected + metrics.waiting;
  }
}

}  // namespace

AgentCluster::AgentCluster(AgentClusterOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

// It throws, and so terminates, only on an agent's own thread. That use is documented as forbidden.
AgentCluster::~AgentCluster() {  // NOLINT(bugprone-exception-escape)
  if (impl_->is_lost()) {
    static_cast<void>(impl_.release());  // stays as fork() found it
    return;
  }
  static_cast<void>(impl_->close(CloseMode::abort()));
}

Scheduler AgentCluster::scheduler() const noexcept {
  return Access::make<Scheduler>(impl_->home, impl_->scheduler);
}
Agent& AgentCluster::agent(unsigned index) const {
  if (index >= size()) throw std::out_of_range("AgentCluster::agent: there are fewer");
  return *impl_->agents[index];
}
unsigned AgentCluster::size() const noexcept { return impl_->options.agents; }
CloseReport AgentCluster::close(const CloseMode& mode) { return impl_->close(mode); }

ClusterStats AgentCluster::stats() const noexcept {
  ClusterStats sum;
  for (unsigned index = 0; index < impl_->agents.size(); ++index) {
    const EventLoopStats stats = impl_->agents[index]->stats();
    sum.tasks_run += stats.tasks_run;
    sum.wakeups_sent += stats.wakeups_sent;
    sum.sleeps += stats.sleeps;
    if (impl_->cluster) sum.stolen += impl_->cluster->stolen(index);
  }
  return sum;
}

ClusterMetrics AgentCluster::metrics() const {
  ClusterMetrics metrics;
  const auto times = std::make_unique<LevelTimes>();
  for (const auto& agent : impl_->agents) {
    LoopMetrics& of_agent = metrics.agents.emplace_back(agent->metrics());
    metrics.tasks_run += of_agent.tasks_run;
    metrics.rejected += of_agent.rejected;
    add_counts(metrics.levels, agent->core());
    add_oldest(metrics.levels, agent->core());
    times->add(agent->core().times());
  }
  times->give(metrics.levels, impl_->home->sampling().clock().nanoseconds_of_unit());
  if (impl_->cluster) add_shared(metrics, *impl_->cluster);
  return metrics;
}

void AgentCluster::set_sampling(std::uint32_t every) {
  check_sampling(every, "AgentCluster::set_sampling: the number");
  impl_->home->sampling().measure_every(every);
  for (const auto& agent : impl_->agents) agent->set_sampling(every);
}

AgentCluster::HotPhase::HotPhase(const AgentCluster& cluster) noexcept
    : home_(cluster.impl_->home) {
  home_->begin_hot_phase();
}
AgentCluster::HotPhase::~HotPhase() { home_->end_hot_phase(); }

}  // namespace HEIST_NAMESPACE
