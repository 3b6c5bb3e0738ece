// ScenarioWriter: writes one random scenario in the format of the cooperative corpus.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/reference/random_choices.hpp"

namespace heist::reference::cooperative {

using Json = nlohmann::json;

class ScenarioWriter {
 public:
  explicit ScenarioWriter(std::uint64_t seed);
  [[nodiscard]] Json write();

 private:
  using Weights = std::map<std::string, std::size_t>;
  /// Where a body stands: how deep, and whether its value reaches a task.
  struct Place {
    std::size_t depth = 0;
    bool gives_value = false;
  };

  void choose_weights();
  [[nodiscard]] Json step(const std::string& op, Place place);
  void add_members(Json& step, Place place);
  [[nodiscard]] Json body(Place place);
  [[nodiscard]] Json last_step(Place place);
  void add_task(Json& schedule, Place place);
  [[nodiscard]] std::string known_task();
  [[nodiscard]] Json priority();
  [[nodiscard]] Json duration() { return random_.one_of(durations_); }

  RandomChoices random_;
  std::uint64_t seed_;
  Weights inner_;
  Weights top_;
  std::vector<Json> durations_;
  std::size_t steps_left_;
  std::size_t tasks_ = 0;
  std::size_t messages_ = 0;
};

}  // namespace heist::reference::cooperative
