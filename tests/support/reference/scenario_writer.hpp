// ScenarioWriter: writes a random scenario. It writes the steps in the order of the program, so it
// knows which tasks and signals are there at each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/reference/random_choices.hpp"

namespace heist::reference {

class ScenarioWriter {
 public:
  explicit ScenarioWriter(std::uint64_t seed);

  [[nodiscard]] nlohmann::json write();

 private:
  using Json = nlohmann::json;
  using Names = std::vector<std::string>;
  using Weights = std::map<std::string, std::size_t>;

  /// What is there when a step runs. The steps before it, and before the bodies around it, have
  /// made it.
  struct Scope {
    Names tasks;
    Names signals;
    Names task_signals;
    Names controllers;  ///< signals that steps may abort
    Names task_controllers;
    std::string own_signal;  ///< the signal of the innermost post, if it has a controller
    std::size_t depth = 0;
  };

  // Bodies and steps.
  [[nodiscard]] Json listeners(const Scope& scope);
  [[nodiscard]] Json body(Scope scope, std::size_t most);
  [[nodiscard]] Json step(Scope& scope);
  [[nodiscard]] Json post(Scope& scope);
  void add_options(Json& post, const Scope& scope);
  void add_result(Json& post, const Scope& scope);
  [[nodiscard]] Json listen(const Scope& scope);
  [[nodiscard]] Json call(const Scope& scope);
  [[nodiscard]] Json labelled(const std::string& op, const Scope& scope);
  [[nodiscard]] Json on_task(const std::string& op, const Scope& scope);
  [[nodiscard]] Json on_signal(const std::string& op, const Scope& scope);
  void add_body(Json& step, const Scope& scope, std::size_t percent);
  void add_flag(Json& step, const char* name, std::size_t percent);

  // Signals.
  [[nodiscard]] Json signal(Scope& scope);
  [[nodiscard]] Json sources(const Scope& scope);
  [[nodiscard]] Json followed_priority(const Scope& scope);

  // Values.
  [[nodiscard]] Json value();
  [[nodiscard]] Json reason();
  [[nodiscard]] std::string priority();
  [[nodiscard]] std::size_t milliseconds();
  [[nodiscard]] std::string label(char first) { return first + std::to_string(++labels_); }

  void choose_weights();
  [[nodiscard]] std::string next_op(const Scope& scope);
  [[nodiscard]] bool fits(const std::string& op, const Scope& scope) const;
  [[nodiscard]] bool comes_too_soon(const std::string& op, const Scope& scope);

  RandomChoices random_;
  std::uint64_t seed_;
  Weights step_weights_;
  Weights signal_weights_;
  bool has_delays_;
  std::size_t longest_delay_;  ///< in units of 60 ms
  std::size_t steps_left_;
  std::size_t posts_ = 0;
  std::size_t labels_ = 0;
  std::size_t signals_ = 0;
};

}  // namespace heist::reference
