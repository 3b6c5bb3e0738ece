// Node: a simulated heistd.
#pragma once

#include "agents.hpp"
#include "database.hpp"

namespace simulation {

/// It asks the database as heistd's Claimer, PostgresHints and PostgresLease do. What it asks for
/// while a call of its kind is under way goes into the next one.
class Node {
 public:
  Node(World& world, Figures& figures, Database& database, const Setting& setting);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  void submit(const Job& job);
  /// Of a job of this level.
  void hear_hint(std::size_t level);
  /// Another process takes its place after a while, and others its jobs once the lease is over.
  void die();

 private:
  void beat();
  void claim();
  void on_claimed(const std::vector<Job>& claimed);
  void tell_of_rest(const std::vector<Job>& claimed, std::array<std::size_t, levels> unclaimed);
  void send_accepted();
  void send_ended();
  void tell(std::size_t level);
  bool heeds(std::size_t level);
  void renew();
  void lose_all();
  template <class Answer>
  auto unless_lost(Answer answer);

  World& world_;
  Figures& figures_;
  Database& database_;
  const Setting& setting_;
  Agents agents_;
  std::vector<Job> accepted_;  ///< to be sent
  std::size_t ended_ = 0;      ///< to be sent
  std::size_t life_ = 0;       ///< what comes for an earlier one comes late
  bool is_down_ = false;
  bool is_submitting_ = false;
  bool is_completing_ = false;
  bool is_claiming_ = false;
  bool claims_again_ = false;
  bool is_telling_ = false;
  bool tells_again_ = false;
  bool hears_late_ = false;  ///< a hint has come in a pause after another one
  bool pauses_ = false;      ///< as claims for hints have brought nothing
  std::array<std::size_t, levels> unclaimed_ = {};  ///< accepted here since the last claim
  std::size_t told_level_ = background;             ///< of the most urgent job that a hint is for
  std::size_t heard_level_ = background;            ///< of the hint that has come in a pause
  Time renewed_ = {};
};

}  // namespace simulation
