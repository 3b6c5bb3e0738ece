#include <algorithm>
#include <array>
#include <heist/agent_cluster.hpp>
#include <heist/error.hpp>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "../loop/cluster_hub.hpp"
#include "../loop/loop_core.hpp"
#include "../os/cpu_limit.hpp"
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

}  // namespace

/// The mutex orders closers only; tasks never meet it.
struct AgentCluster::Impl {
  explicit Impl(AgentClusterOptions options);
  ~Impl();

  [[nodiscard]] AgentOptions options_of(unsigned index) const;
  void start();
  void leave_unstarted(LoopCore& core);
  [[nodiscard]] bool is_own_thread() const noexcept;
  CloseReport close(const CloseMode& mode);
  void drain(const CloseMode& mode);

  AgentClusterOptions options;
  Ref<LoopCore> loop;                  ///< stands for the cluster; with one agent, that one's
  SchedulerCore* scheduler = nullptr;  ///< of that loop; another one than the agent's
  std::vector<std::unique_ptr<Agent>> agents;  ///< go first, also when one of them does not start
  std::mutex closing;
  bool is_closed = false;  ///< guarded by closing
};

AgentCluster::Impl::Impl(AgentClusterOptions given) : options(std::move(given)) {
  options.agents = checked_size(options.agents);
  std::vector<Ref<LoopCore>> members;
  for (unsigned index = 0; index < options.agents; ++index) {
    agents.push_back(std::unique_ptr<Agent>(new Agent(options_of(index), Agent::NotStarted())));
    members.push_back(Ref<LoopCore>::share(&agents.back()->core()));
  }
  const bool is_single = members.size() == 1;
  loop = is_single ? members[0] : LoopCore::make_cluster(options.loop, std::move(members));
  scheduler = is_single ? &loop->add_scheduler() : &loop->first_scheduler();
  start();
}

void AgentCluster::Impl::start() {
  std::size_t started = 0;
  try {
    for (; started < agents.size(); ++started) agents[started]->start();
  } catch (...) {
    for (; started < agents.size(); ++started) leave_unstarted(agents[started]->core());
    throw;
  }
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
  if (options.pin) result.affinity = allowed_cpu(index);
  if (options.on_start) result.on_start = [this, index] { options.on_start(index); };
  if (options.on_stop) result.on_stop = [this, index] { options.on_stop(index); };
  return result;
}

AgentCluster::Impl::~Impl() {
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
  if (is_own_thread()) {
    throw NotAllowedError("AgentCluster::close on an agent's own thread would wait for itself");
  }
  const std::lock_guard lock(closing);
  if (std::exchange(is_closed, true)) return {};
  if (loop->hub() == nullptr) {
    agents[0]->request_close(mode);
    return agents[0]->close_as_member(mode);
  }
  std::array<std::uint64_t, IdleAgents::most_agents> ran_before;
  for (unsigned i = 0; i < agents.size(); ++i) ran_before[i] = agents[i]->stats().tasks_run;
  loop->refuse_tasks();
  if (mode.kind == CloseMode::Kind::drain) drain(mode);
  CloseMode now = CloseMode::abort();
  now.deadline = mode.deadline;
  for (const auto& agent : agents) agent->request_close(now);
  CloseReport report;
  for (unsigned i = 0; i < agents.size(); ++i) {
    const CloseReport part = agents[i]->close_as_member(now);
    report.aborted += part.aborted;
    report.still_running += part.still_running;
    const auto begun = agents[i]->stats().tasks_run - ran_before[i];
    report.ran += begun - std::min(begun, part.still_running);  // that may have begun before
  }
  return report;
}

void AgentCluster::Impl::drain(const CloseMode& mode) {
  for (const auto& agent : agents) agent->core().refuse_tasks();
  loop->hub()->wait_until_quiet(mode.deadline, mode.wait_for_delayed);
}

AgentCluster::AgentCluster(AgentClusterOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

// Throws, and so terminates, only on an agent's own thread, which is documented as forbidden.
AgentCluster::~AgentCluster() {  // NOLINT(bugprone-exception-escape)
  static_cast<void>(impl_->close(CloseMode::abort()));
}

Scheduler AgentCluster::scheduler() const noexcept {
  return Scheduler(impl_->loop, impl_->scheduler);
}
Agent& AgentCluster::agent(unsigned index) const { return *impl_->agents.at(index); }
unsigned AgentCluster::size() const noexcept { return impl_->options.agents; }
CloseReport AgentCluster::close(const CloseMode& mode) { return impl_->close(mode); }

ClusterStats AgentCluster::stats() const noexcept {
  ClusterStats sum;
  for (unsigned index = 0; index < size(); ++index) {
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
