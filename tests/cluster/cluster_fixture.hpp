// ClusterFixture: a cluster that a test starts, holds, and closes before it looks at what is left.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <heist/agent_cluster.hpp>
#include <heist/heist.hpp>
#include <latch>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "api/probes.hpp"
#include "heist/cluster/cluster_core.hpp"
#include "support/priorities.hpp"
#include "support/runtime_fixture.hpp"
#include "support/threads.hpp"

namespace heist::support {

using namespace detail;

/// Whether it settles while a test has patience.
template <class T>
[[nodiscard]] bool settles(const Promise<T>& promise) {
  return promise.wait_for(test::patience);
}

/// Waits while a test has patience; false when the condition does not come true.
template <class Condition>
[[nodiscard]] bool comes_true(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + test::patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

/// A promise, and what settles it; copies settle the same one.
template <class T>
struct Later {
  template <class... Args>
  void resolve(Args&&... args) const {
    resolver->resolve(std::forward<Args>(args)...);
  }

  Promise<T> promise;
  std::shared_ptr<Resolver<T>> resolver;
};
template <class T>
[[nodiscard]] Later<T> later() {
  auto pair = Promise<T>::with_resolver();
  return {pair.promise, std::make_shared<Resolver<T>>(std::move(pair.resolver))};
}

/// Counts down to zero.   Thread: any.
class Countdown {
 public:
  explicit Countdown(int from) : left_(from) {}
  void done() { left_.fetch_sub(1); }
  [[nodiscard]] int left() const { return left_.load(); }
  [[nodiscard]] bool ends() const {
    return comes_true([this] { return left() == 0; });
  }

 private:
  std::atomic<int> left_;
};

/// Every agent of a cluster in a bound task of the highest priority, until it is let go.
class HeldAgents {
 public:
  explicit HeldAgents(const AgentCluster& cluster) {
    for (unsigned agent = 0; agent < cluster.size(); ++agent) {
      held_.push_back(std::make_shared<Held>());
      cluster.agent(agent).scheduler().post(
          [held = held_.back()] {
            held->started.open();
            held->gate.wait();
          },
          {.priority = user_blocking});
    }
    for (const auto& held : held_) held->started.wait();
  }
  HeldAgents(const HeldAgents&) = delete;
  HeldAgents& operator=(const HeldAgents&) = delete;
  ~HeldAgents() { let_go(); }

  void let_go(unsigned agent) {
    if (!std::exchange(held_[agent]->is_free, true)) held_[agent]->gate.open();
  }
  void let_go() {
    for (unsigned agent = 0; agent < held_.size(); ++agent) let_go(agent);
  }

 private:
  struct Held {
    test::Gate started;
    test::Gate gate;
    bool is_free = false;
  };
  std::vector<std::shared_ptr<Held>> held_;
};

/// The index of the agent that runs the caller, or nothing.
[[nodiscard]] inline std::optional<unsigned> agent_here(const AgentCluster& cluster) {
  for (unsigned agent = 0; agent < cluster.size(); ++agent) {
    if (Agent::current() == &cluster.agent(agent)) return agent;
  }
  return std::nullopt;
}

class ClusterFixture : public RuntimeFixture {
 protected:
  void TearDown() override {
    end();
    RuntimeFixture::TearDown();
  }

  void start(unsigned agents) { start({.agents = agents}); }
  void start(AgentClusterOptions options) {
    options.loop.spin = options.loop.spin.zero();
    cluster_.emplace(std::move(options));
    scheduler_.emplace(cluster_->scheduler());
  }
  void end() {
    scheduler_.reset();
    cluster_.reset();
  }

  [[nodiscard]] AgentCluster& cluster() { return *cluster_; }
  [[nodiscard]] const Scheduler& scheduler() const { return *scheduler_; }
  [[nodiscard]] Scheduler bound(unsigned agent) const { return cluster_->agent(agent).scheduler(); }
  [[nodiscard]] unsigned size() const { return cluster_->size(); }

  /// Returns when every agent sleeps, and no delayed task is still on its way to the wheel.
  /// Precondition: nobody gives the agents work, and no delay ends soon.
  void fall_asleep() {
    std::vector<std::uint64_t> sleeps;
    for (unsigned agent = 0; agent < size(); ++agent) {
      sleeps.push_back(bound(agent).post_task([this, agent] { return sleeps_of(agent); }).get());
    }
    for (unsigned agent = 0; agent < size(); ++agent) {
      wait_until([&] { return sleeps_of(agent) > sleeps[agent]; });
    }
    wait_until([this] { return all_have_announced_sleep(); });
  }

 private:
  [[nodiscard]] std::uint64_t sleeps_of(unsigned agent) const {
    return cluster_->agent(agent).stats().sleeps;
  }
  /// An agent of several counts its sleep before it announces it, and looks for work in between.
  [[nodiscard]] bool all_have_announced_sleep() const {
    TaskHome& home = Access::core(scheduler())->home;
    if (home.as_loop() != nullptr) return true;  // one agent counts its sleep afterwards
    auto& cluster = static_cast<ClusterCore&>(home);
    for (unsigned agent = 0; agent < size(); ++agent) {
      if (!cluster.sleepers().idle().sleeps(agent)) return false;
    }
    TickReader ticks(cluster.time());
    return !cluster.upkeep().wants_keeper(ticks);
  }

  std::optional<AgentCluster> cluster_;
  std::optional<Scheduler> scheduler_;
};

/// With as many agents as the parameter says.
class ClusterOf : public ClusterFixture, public testing::WithParamInterface<unsigned> {
 protected:
  void SetUp() override { start(GetParam()); }
};

/// The largest cluster. The deep verification names another number, since a large cluster takes
/// minutes.
[[nodiscard]] inline unsigned many_agents() {
  const char* const named = std::getenv("HEIST_TEST_AGENTS");
  return named != nullptr ? static_cast<unsigned>(std::stoul(named)) : 8;
}

inline const auto sizes = testing::Values(1U, 2U, 3U, many_agents());
inline const auto several_agents = testing::Values(2U, 3U, many_agents());
inline std::string size_name(const testing::TestParamInfo<unsigned>& info) {
  return "agents_" + std::to_string(info.param);
}

}  // namespace heist::support
