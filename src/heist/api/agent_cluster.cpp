#include <algorithm>
#include <array>
#include <heist/agent_cluster.hpp>
#include <heist/error.hpp>
#include <mutex>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <utility>
#include <vector>

#include "../loop/cluster_hub.hpp"
#include "../loop/driving.hpp"
#include "../loop/loop_core.hpp"
#include "../os/cpu_limit.hpp"
#include "../os/fork_watch.hpp"
#include "../os/thread.hpp"

namespace heist {

namespace {

unsigned checked_size(unsigned agents) {
  if (agents == 0) return default_agents(IdleAgents::most_agents);
  if (agents > IdleAgents::most_agents) {
    throw std::invalid_argument("AgentClusterOptions::agents: " + std::to_string(agents) +
                                " is more than " + std::to_string(IdleAgents::most_agents));
  }
  return agents;
}

unsigned checked_reserves(const AgentClusterOptions& options) {
  const unsigned room = IdleAgents::most_agents - options.agents;
  const unsigned most = std::min(room, Reserves::most);
  const unsigned wanted = options.reserves.value_or(std::min(options.agents, most));
  if (wanted > most) {
    throw std::invalid_argument("AgentClusterOptions::reserves: " + std::to_string(wanted) +
                                " is more than " + std::to_string(most));
  }
  if (options.reserve_idle < options.reserve_idle.zero()) {
    throw std::invalid_argument("AgentClusterOptions::reserve_idle must not be negative");
  }
  return options.agents == 1 ? 0 : wanted;
}

}  // namespace

/// The mutex orders closers only; tasks never meet it.
struct AgentCluster::Impl final : ReserveThreads {
  explicit Impl(AgentClusterOptions options);
  ~Impl();

  [[nodiscard]] AgentOptions options_of(unsigned index) const;
  [[nodiscard]] ReserveSetup make_members();
  void start();
  void join();
  void get_up(unsigned member) noexcept override { agents[member]->get_up(); }
  void leave_unstarted(LoopCore& core);
  [[nodiscard]] bool is_own_thread() const noexcept;
  CloseReport close(const CloseMode& mode);
  void drain(const CloseMode& mode);
  [[nodiscard]] bool is_lost() const noexcept { return ForkWatch::has_lost(loop.get()); }
  [[nodiscard]] std::uint64_t tasks_run() const noexcept;
  CloseReport await_members(const CloseMode& mode);

  AgentClusterOptions options;
  Ref<LoopCore> loop;                  ///< stands for the cluster; with one agent, that one's
  SchedulerCore* scheduler = nullptr;  ///< of that loop; another one than the agent's
  std::optional<CpuSet> all_cpus;      ///< the agents are pinned, reserves are not
  std::vector<std::unique_ptr<Agent>>
      agents;  ///< and reserves; go first, also when one of them does not start
  std::mutex closing;
  bool is_closed = false;               ///< guarded by closing
  std::optional<ForkWatch> fork_watch;  ///< when the loop is no agent's
};

AgentCluster::Impl::Impl(AgentClusterOptions given) : options(std::move(given)) {
  options.agents = checked_size(options.agents);
  if (options.pin) all_cpus.emplace();
  const ReserveSetup reserves = make_members();
  std::vector<Ref<LoopCore>> members;
  for (const auto& agent : agents) members.push_back(Ref<LoopCore>::share(&agent->core()));
  const bool is_single = members.size() == 1;
  loop =
      is_single ? members[0] : LoopCore::make_cluster(options.loop, std::move(members), reserves);
  if (!is_single) fork_watch.emplace(loop.get(), &LoopCore::lose_agent);
  scheduler = is_single ? &loop->add_scheduler() : &loop->first_scheduler();
  start();
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

/// Before any of them goes: their tasks may get reserves up. Those without a thread end here; the last member to leave,
/// who drops what is left, is to be another one.
void AgentCluster::Impl::join() {
  for (const auto& agent : std::views::reverse(agents)) agent->join();
}

/// What the others have left is dropped by the last member, be it one that never ran.
void AgentCluster::Impl::leave_unstarted(LoopCore& core) {
  ClusterHub* hub = loop->hub();
  if (hub == nullptr) return;
  const Driving driving(core);
  core.assert_agent();
  hub->leave(core);
}

AgentOptions AgentCluster::Impl::options_of(unsigned index) const {
  AgentOptions result{.name = options.name + "-" + std::to_string(index), .loop = options.loop};
  const bool is_reserve = index >= options.agents;
  if (options.pin && !is_reserve) result.affinity = allowed_cpu(index);
  if (options.on_start || (options.pin && is_reserve)) {
    result.on_start = [this, index, is_reserve] {
      if (all_cpus && is_reserve) all_cpus->use();
      if (options.on_start) options.on_start(index);
    };
  }
  if (options.on_stop) result.on_stop = [this, index] { options.on_stop(index); };
  return result;
}

AgentCluster::Impl::~Impl() {
  join();
  agents.clear();
  if (loop && loop->hub() != nullptr) loop->free_agent_state();
}

bool AgentCluster::Impl::is_own_thread() const noexcept {
  for (const auto& agent : agents) {
    if (Agent::current() == agent.get()) return true;
  }
  return false;
}

CloseReport AgentCluster::Impl::close(const CloseMode& mode) {
  if (is_lost()) {
    throw NotAllowedError(
        "AgentCluster::close in a child of fork: only the parent has its threads");
  }
  if (is_own_thread()) {
    throw NotAllowedError("AgentCluster::close on an agent's own thread would wait for itself");
  }
  const std::lock_guard lock(closing);
  if (std::exchange(is_closed, true)) return {};
  if (loop->hub() == nullptr) {
    agents[0]->request_close(mode);
    return agents[0]->close_as_member(mode).report;
  }
  const auto ran_before = tasks_run();
  loop->refuse_tasks();
  if (mode.kind == CloseMode::Kind::drain) drain(mode);
  CloseMode now = CloseMode::abort();
  now.deadline = mode.deadline;
  for (const auto& agent : std::views::reverse(agents)) agent->request_close(now);
  CloseReport report = await_members(now);
  const auto begun = tasks_run() - ran_before;
  report.ran = begun - std::min(begun, report.still_running);  // those may have begun before
  return report;
}

std::uint64_t AgentCluster::Impl::tasks_run() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& agent : agents) sum += agent->stats().tasks_run;
  return sum;
}

/// Of those that run parts of one tree, one counts.
CloseReport AgentCluster::Impl::await_members(const CloseMode& mode) {
  CloseReport sum;
  std::array<const void*, IdleAgents::most_agents> running{};
  for (const auto& agent : agents) {
    const auto [report, runs] = agent->close_as_member(mode);
    sum.aborted += report.aborted;
    if (runs == nullptr || std::ranges::find(running, runs) != running.end()) continue;
    running.at(sum.still_running++) = runs;
  }
  return sum;
}

void AgentCluster::Impl::drain(const CloseMode& mode) {
  for (const auto& agent : agents) agent->core().refuse_tasks();
  loop->hub()->wait_until_quiet(mode.deadline, mode.wait_for_delayed);
}

AgentCluster::AgentCluster(AgentClusterOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

// Throws, and so terminates, only on an agent's own thread, which is documented as forbidden.
AgentCluster::~AgentCluster() {  // NOLINT(bugprone-exception-escape)
  if (impl_->is_lost()) {
    static_cast<void>(impl_.release());  // stays as fork() found it
    return;
  }
  static_cast<void>(impl_->close(CloseMode::abort()));
}

Scheduler AgentCluster::scheduler() const noexcept {
  return Scheduler(impl_->loop, impl_->scheduler);
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
    if (const ClusterHub* hub = impl_->loop->hub()) sum.stolen += hub->stolen(index);
  }
  return sum;
}

AgentCluster::HotPhase::HotPhase(const AgentCluster& cluster) noexcept
    : loop_(cluster.impl_->loop) {
  loop_->begin_hot_phase();
}
AgentCluster::HotPhase::~HotPhase() { loop_->end_hot_phase(); }

}  // namespace heist
