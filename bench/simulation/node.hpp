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
  void hear_hint();
  /// Another process takes its place after a while, and others its jobs once the lease is over.
  void die();

 private:
  void beat();
  void claim();
  void on_claimed(const std::vector<Job>& claimed);
  void send_accepted();
  void send_ended();
  void tell();
  bool heeds_hint();
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
  std::vector<Job> ended_;     ///< to be sent
  std::vector<Job> ending_;    ///< sent, and not answered
  std::size_t life_ = 0;       ///< what comes for an earlier one comes late
  bool is_down_ = false;
  bool is_submitting_ = false;
  bool is_claiming_ = false;
  bool claims_again_ = false;
  bool is_telling_ = false;
  bool tells_again_ = false;
  bool hears_late_ = false;    ///< a hint has come in a pause after another one
  bool pauses_ = false;        ///< as claims for hints have brought nothing
  std::size_t unclaimed_ = 0;  ///< accepted here since the last claim
  Time renewed_ = {};
};

}  // namespace simulation
