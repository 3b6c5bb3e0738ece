#include "support/reference/cooperative/scenario_writer.hpp"

#include <algorithm>

#include "support/reference/cooperative/generator.hpp"

namespace heist::reference::cooperative {

namespace {

constexpr std::size_t deepest_body = 5;

bool has_body(const std::string& op) {
  return op == "try" || op == "runWithPriority" || op == "next" || op == "wrap" || op == "continue";
}

}  // namespace

Json generate(std::uint64_t seed) { return ScenarioWriter(seed).write(); }

ScenarioWriter::ScenarioWriter(std::uint64_t seed)
    : random_(seed),
      seed_(seed),
      steps_left_(random_.chance(10) ? random_.between(40, 100) : random_.between(3, 40)) {
  choose_weights();
}

/// Each scenario goes without some kinds of steps and has many of others. It has few durations, so
/// that things come at the same time.
void ScenarioWriter::choose_weights() {
  const std::vector<std::size_t> factors{0, 1, 1, 3};
  const Weights inner{
      {"cancel", 3},      {"checkYield", 2},   {"currentPriority", 2}, {"now", 1},  {"log", 1},
      {"throw", 1},       {"try", 2},          {"runWithPriority", 2}, {"next", 2}, {"wrap", 2},
      {"callWrapped", 2}, {"requestPaint", 2}, {"forceFrameRate", 1}};
  for (const auto& [op, weight] : inner) inner_[op] = weight * random_.one_of(factors);
  inner_["schedule"] = 4;
  inner_["advance"] = 6;
  top_ = inner_;
  top_["schedule"] = 14;
  top_.erase("throw");
  for (const auto* op : {"block", "flushHost", "fireTimeouts", "flushAll"}) {
    top_[op] = 2 * random_.one_of(factors);
  }
  const std::vector<Json> all{0, 1,   2,   3,    4,    5,    6,    8,    10,    12,
                              5, 250, 251, 4750, 4999, 5000, 9750, 9999, 10000, 0.25};
  for (int left = 5; left > 0; --left) durations_.push_back(random_.one_of(all));
}

Json ScenarioWriter::write() {
  const auto seed = std::to_string(seed_);
  Json steps = Json::array();
  while (steps_left_ > 0) steps.push_back(step(random_.one_of(top_), {}));
  if (random_.chance(75)) steps.push_back({{"op", "flushAll"}});
  return {{"id", "random/" + seed},
          {"theme", "random"},
          {"note", "random, seed " + seed},
          {"start", random_.one_of(std::vector<Json>{0, 0, 0, 2, 7.5, 2500, 2147483000})},
          {"steps", std::move(steps)},
          {"trace", Json::array()},
          {"host", Json::array()}};
}

Json ScenarioWriter::step(const std::string& op, Place place) {
  if (steps_left_ > 0) --steps_left_;
  Json step{{"op", op}};
  add_members(step, place);
  return step;
}

void ScenarioWriter::add_members(Json& step, Place place) {
  const std::string op = step["op"];
  if (op == "schedule") add_task(step, place);
  if (op == "cancel") step["id"] = known_task();
  if (op == "advance" || op == "block" || op == "work") step["ms"] = duration();
  if (op == "work") step["units"] = random_.below(8);
  if (op == "log" || op == "throw") step["message"] = "m" + std::to_string(++messages_);
  if (op == "wrap" || op == "callWrapped") step["id"] = "w" + std::to_string(random_.between(1, 3));
  if (op == "runWithPriority") step["priority"] = priority();
  if (op == "forceFrameRate") {
    step["fps"] = random_.one_of(std::vector<Json>{0, 0, 7, 30, 60, 100.5, 125, 126, -1});
  }
  if (op == "wrap") place.gives_value = false;
  if (has_body(op)) step["body"] = body({place.depth + 1, place.gives_value});
}

/// Writes a body. If its value reaches a task, its last step may give one.
Json ScenarioWriter::body(Place place) {
  Json steps = Json::array();
  const std::size_t most = place.depth < deepest_body ? 4 : 1;
  for (std::size_t left = random_.below(most + 1); left > 0 && steps_left_ > 0; --left) {
    std::string op = random_.one_of(inner_);
    if (place.depth >= deepest_body && (has_body(op) || op == "schedule")) op = "advance";
    steps.push_back(step(op, {place.depth, false}));
  }
  if (place.gives_value && random_.chance(40)) steps.push_back(last_step(place));
  return steps;
}

Json ScenarioWriter::last_step(Place place) {
  const std::vector<std::string> ops{"work", "work", "continue",       "continue",
                                     "try",  "next", "runWithPriority"};
  std::string op = random_.one_of(ops);
  if (place.depth >= deepest_body || steps_left_ == 0) op = "work";
  return step(op, place);
}

void ScenarioWriter::add_task(Json& schedule, Place place) {
  const bool is_again = tasks_ > 0 && random_.chance(10);
  schedule["id"] = is_again ? known_task() : "t" + std::to_string(++tasks_);
  schedule["priority"] = random_.between(1, 5);
  if (random_.chance(35)) schedule["delay"] = duration();
  if (random_.chance(3)) schedule["delay"] = -5;
  schedule["body"] = body({place.depth + 1, true});
}

std::string ScenarioWriter::known_task() {
  return "t" + std::to_string(tasks_ - random_.below(std::clamp<std::size_t>(tasks_, 1, 5)));
}

/// Chooses a priority for runWithPriority, which takes any number.
Json ScenarioWriter::priority() {
  if (random_.chance(10)) return random_.one_of(std::vector<Json>{0, -1, 6, 256, 259});
  return random_.between(1, 5);
}

}  // namespace heist::reference::cooperative
