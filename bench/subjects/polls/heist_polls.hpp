// Heist: what a long task asks on an agent, and on an agent of a cluster.
#pragma once

#include <heist/agent_cluster.hpp>
#include <heist/yield_if_urgent.hpp>
#include <utility>

#include "../heist.hpp"

namespace bench {

class HeistPolls : public HeistSubject {
 public:
  [[nodiscard]] static bool poll() noexcept { return heist::urgent_waiting(); }
};

class HeistClusterPolls {
 public:
  static constexpr const char* name = "heist_cluster";
  template <class F>
  void post(F&& f) {
    scheduler_.post(std::forward<F>(f));
  }
  [[nodiscard]] static bool poll() noexcept { return heist::urgent_waiting(); }

 private:
  heist::AgentCluster cluster_{heist::AgentClusterOptions{.agents = 2}};
  heist::Scheduler scheduler_ = cluster_.scheduler();
};

}  // namespace bench
