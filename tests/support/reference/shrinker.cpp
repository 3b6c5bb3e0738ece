#include "support/reference/shrinker.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/reference/model.hpp"

namespace heist::reference {

namespace {

using Json = nlohmann::json;
using Pointer = Json::json_pointer;
using Difference = Json::difference_type;

/// The grammar of the posttask corpus, in which times are multiples of 60 ms.
const Grammar& posttask() {
  static const Grammar grammar{
      {"/main", "/signals"},
      // `abort` is a step and a kind of signal. Only the step has a `reason`.
      {{"post", {"body", "delay", "signal", "priority", "returns", "throws", "async"}},
       {"abort", {"reason"}},
       {"yield", {"catch"}},
       {"await", {"rethrow"}},
       {"then", {"body"}},
       {"call", {"wait", "catch"}},
       {"microtask", {"body"}},
       {"timer", {"body"}},
       {"listen", {"body", "label", "once"}},
       {"throwIfAborted", {"catch"}},
       {"task", {"priority"}},
       {"aborted", {"reason"}},
       {"task-any", {"priority"}}},
      {{"delay", 60U}, {"ms", 60U}, {"priority", "user-blocking"}},
      [](Json scenario) -> std::optional<Json> {
        const Verdict verdict = judge(scenario);
        if (!verdict.is_sound()) return {};
        scenario["trace"] = verdict.trace;
        return scenario;
      }};
  return grammar;
}

/// Tries the scenarios that are one edit smaller, the boldest edits first, until one of them fails.
class Round {
 public:
  Round(const Json& scenario, const Grammar& grammar, const Fails& fails)
      : scenario_(scenario), grammar_(grammar), fails_(fails) {}

  [[nodiscard]] std::optional<Json> smaller() {
    for (const auto& list : grammar_.lists) {
      if (shrink_list(Pointer(list))) return found_;
    }
    return {};
  }

 private:
  bool shrink_list(const Pointer& place) {
    const std::size_t size = scenario_[place].size();
    for (std::size_t part = size; part > 0; part /= 2) {
      for (std::size_t begin = 0; begin < size; begin += part) {
        if (without_elements(place, begin, std::min(part, size - begin))) return true;
      }
    }
    for (std::size_t i = 0; i < size; ++i) {
      if (shrink_element(place, i)) return true;
    }
    return false;
  }

  [[nodiscard]] const std::vector<std::string>& optional_members_of(const Json& element) const {
    static const std::vector<std::string> none;
    const auto found =
        grammar_.optional_members.find(element.value("kind", element.value("op", "")));
    return found == grammar_.optional_members.end() ? none : found->second;
  }

  bool shrink_element(const Pointer& list, std::size_t index) {
    const Pointer place = list / index;
    const Json& element = scenario_[place];
    if (!element.is_object()) return false;
    for (const auto& member : optional_members_of(element)) {
      if (element.contains(member) && without_member(place, member)) return true;
    }
    for (const auto& [member, value] : grammar_.plain_values) {
      if (element.contains(member) && with_value(place / member, value)) return true;
    }
    if (element.contains("body")) {
      return with_body_instead(list, index) || shrink_list(place / "body");
    }
    return element.contains("of") && shrink_list(place / "of");
  }

  bool without_elements(const Pointer& list, std::size_t begin, std::size_t count) {
    Json candidate = scenario_;
    Json& elements = candidate[list];
    const auto first = elements.begin() + static_cast<Difference>(begin);
    elements.erase(first, first + static_cast<Difference>(count));
    return accept(std::move(candidate));
  }

  bool without_member(const Pointer& place, const std::string& member) {
    Json candidate = scenario_;
    candidate[place].erase(member);
    return accept(std::move(candidate));
  }

  bool with_value(const Pointer& place, const Json& value) {
    if (scenario_[place] == value) return false;
    Json candidate = scenario_;
    candidate[place] = value;
    return accept(std::move(candidate));
  }

  bool with_body_instead(const Pointer& list, std::size_t index) {
    Json candidate = scenario_;
    Json& steps = candidate[list];
    const Json body = steps[index]["body"];
    const auto place = steps.erase(steps.begin() + static_cast<Difference>(index));
    steps.insert(place, body.begin(), body.end());
    return accept(std::move(candidate));
  }

  bool accept(Json candidate) {
    auto judged = grammar_.judged(std::move(candidate));
    if (!judged || !fails_(*judged)) return false;
    found_ = *std::move(judged);
    return true;
  }

  const Json& scenario_;
  const Grammar& grammar_;
  const Fails& fails_;
  Json found_;
};

}  // namespace

Json shrink(Json scenario, const Grammar& grammar, const Fails& fails) {
  scenario = grammar.judged(std::move(scenario)).value();
  while (auto smaller = Round(scenario, grammar, fails).smaller()) scenario = *std::move(smaller);
  return scenario;
}

Json shrink(Json scenario, const Fails& fails) {
  return shrink(std::move(scenario), posttask(), fails);
}

}  // namespace heist::reference
