// Agents: how a simulated server runs what it has claimed.
#pragma once

#include <functional>
#include <vector>
#include "figures.hpp"
#include "job.hpp"
#include "setting.hpp"

namespace simulation {

/// A more urgent job takes the place of a lower one when that has ended its chunk.
class Agents {
 public:
  Agents(World& world, Figures& figures, std::size_t size, std::function<void(const Job&)> on_end)
      : world_(world), figures_(figures), on_end_(std::move(on_end)), running_(size) {}
  Agents(const Agents&) = delete;
  Agents& operator=(const Agents&) = delete;

  void add(const Job& job);
  /// Jobs of a level or above, with those that wait.
  [[nodiscard]] std::array<std::size_t, levels> held() const;
  [[nodiscard]] bool is_empty() const { return held()[background] == 0; }
  /// All of them, which are here no more.
  std::vector<Job> take_all();

 private:
  struct Running {
    bool is_busy = false;
    bool is_giving_way = false;
    Job job = {};
    Time since = {};
    std::size_t turn = 0;  ///< what comes for an earlier one comes late
  };

  Running* least_urgent_below(std::size_t level);
  void dispatch();
  void start(Running& running);
  void give_way(Running& running);
  template <class Action>
  void after(Running& running, Time time, Action action);
  [[nodiscard]] const Job* next() const;
  Job take_next();

  World& world_;
  Figures& figures_;
  const std::function<void(const Job&)> on_end_;
  std::vector<Running> running_;
  JobsByLevel waiting_;
};

}  // namespace simulation
