// Database: a simulated PostgreSQL, with the queue of its shard.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>
#include "call_costs.hpp"
#include "figures.hpp"
#include "job.hpp"
#include "setting.hpp"

namespace simulation {

class Node;

/// Calls wait for a processor in the order in which they come. What a call changes is there as its
/// processor is done with it, and the answer once the disk has it and the network has brought it.
class Database {
 public:
  Database(World& world, Figures& figures, const CallCosts& costs, const Setting& setting)
      : world_(world),
        figures_(figures),
        costs_(costs),
        of_empty_claim_(costs.of("claim", 0) + costs.of_lanes(setting.lanes)),
        free_at_(setting.processors) {}

  /// `change()` gives what is handed to `answer`.
  template <class Change, class Answer>
  void call(const std::string& name, std::size_t jobs, Change change, Answer answer) {
    world_.after(until_done(costs_.of(name, jobs)),
                 [this, change = std::move(change), answer = std::move(answer)]() mutable {
                   answer_later(change(), std::move(answer));
                 });
  }
  /// For a node that has `held` jobs of each level or above. What it claims costs besides.
  template <class Answer>
  void claim(std::size_t agents, const std::array<std::size_t, levels>& held, Answer answer) {
    world_.after(
        until_done(of_empty_claim_), [this, agents, held, answer = std::move(answer)]() mutable {
          auto claimed = take(agents, held);
          world_.after(spend(costs_.of("claim", claimed.size()) - costs_.of("claim", 0)),
                       [this, claimed = std::move(claimed), answer = std::move(answer)]() mutable {
                         answer_later(std::move(claimed), std::move(answer));
                       });
        });
  }
  void accept(std::vector<Job>& jobs);
  /// Jobs whose attempts have ended with their servers come back, before all others.
  void take_back(std::vector<Job> jobs);
  /// Nothing is done for so long.
  void stop_for(Time time);
  [[nodiscard]] bool is_away() const { return world_.now() < back_at_; }

  void add(Node& node) { nodes_.push_back(&node); }
  [[nodiscard]] const std::vector<Node*>& nodes() const { return nodes_; }

 private:
  Time until_done(Time cost);
  Time spend(Time cost);
  std::vector<Job> take(std::size_t agents, const std::array<std::size_t, levels>& held);
  template <class Given, class Answer>
  void answer_later(Given given, Answer answer) {
    world_.after(disk + network / 2, [given = std::move(given),
                                      answer = std::move(answer)]() mutable { answer(given); });
  }

  World& world_;
  Figures& figures_;
  const CallCosts costs_;
  const Time of_empty_claim_;
  std::vector<Time> free_at_;  ///< of each processor
  Time back_at_ = {};
  JobsByLevel waiting_;
  std::vector<Node*> nodes_;
};

}  // namespace simulation
