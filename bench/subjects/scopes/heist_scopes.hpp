// Heist: a TaskScope on a cluster. The thread that owns it sleeps until the scope has ended.
#pragma once

#include <cstdint>
#include <heist/agent_cluster.hpp>
#include <heist/task_scope.hpp>

namespace bench {

class HeistScopes {
 public:
  static constexpr const char* name = "heist";
  explicit HeistScopes(int threads)
      : cluster_(heist::AgentClusterOptions{.agents = unsigned(threads)}) {}

  /// Calls `work(0)` to `work(count - 1)` in tasks, and returns when all of them have ended.
  template <class Work>
  void run(std::int64_t count, const Work& work) {
    heist::TaskScope scope(cluster_.scheduler());
    for (std::int64_t i = 0; i < count; ++i) scope.start([&work, i] { work(i); });
    scope.join();
  }

 private:
  heist::AgentCluster cluster_;
};

}  // namespace bench
