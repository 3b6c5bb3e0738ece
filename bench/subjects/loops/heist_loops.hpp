// Heist: loops in a task of a cluster. The caller waits for it, so there is one thread more, which
// sleeps.
#pragma once

#include <cstddef>
#include <heist/agent_cluster.hpp>
#include <heist/parallel.hpp>
#include <heist/scheduler.hpp>

namespace bench {

class HeistLoops {
 public:
  static constexpr const char* name = "heist";
  explicit HeistLoops(int threads)
      : cluster_(heist::AgentClusterOptions{.agents = unsigned(threads)}) {}

  /// Calls it where loops are to be made.
  template <class Work>
  void run(Work work) {
    cluster_.scheduler().post_task([&work] { work(); }).get();
  }
  template <class Body>
  static void loop(std::size_t size, const Body& body) {
    heist::parallel_for(std::size_t{0}, size, body);
  }
  template <class Value, class Body, class Combine>
  static Value reduce(std::size_t size, Value identity, const Body& body, const Combine& combine) {
    return heist::parallel_reduce(std::size_t{0}, size, identity, body, combine);
  }
  template <class Iterator>
  static void sort(Iterator first, Iterator last) {
    heist::parallel_sort(first, last);
  }

 protected:
  heist::AgentCluster cluster_;
};

/// The same while agents without work look for some instead of sleeping.
class HeistHotLoops : public HeistLoops {
 public:
  static constexpr const char* name = "heist_hot";
  using HeistLoops::HeistLoops;

 private:
  heist::AgentCluster::HotPhase hot_ = cluster_.hot_phase();
};

}  // namespace bench
