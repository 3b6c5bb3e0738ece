// Heist: a cluster of agents with the default options, any of which may take what is posted.
#pragma once

#include <heist/agent_cluster.hpp>
#include <heist/scheduler.hpp>
#include <utility>

namespace bench {

template <unsigned agents>
class HeistPool {
 public:
  static constexpr const char* name = "heist";
  template <class F>
  void post(F&& f) {
    scheduler_.post(std::forward<F>(f));
  }
  [[nodiscard]] const heist::Scheduler& scheduler() const noexcept { return scheduler_; }

 private:
  heist::AgentCluster cluster_{heist::AgentClusterOptions{.agents = agents}};
  heist::Scheduler scheduler_ = cluster_.scheduler();
};

}  // namespace bench
