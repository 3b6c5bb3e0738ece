#include "support/reference/features.hpp"

namespace heist::reference {

namespace {

using Json = nlohmann::json;

void count_object(const Json& object, const std::string& name, Features& features) {
  ++features[name];
  for (const auto& [member, value] : object.items()) {
    // An object names the task whose promise is returned, or the signal whose priority is followed.
    const bool names_one = value.is_object();
    if (member == "op" || member == "kind" || member == "name") continue;
    ++features[name + "." + member + (names_one ? " of another" : "")];
  }
}

void count_steps(const Json& steps, Features& features) {
  for (const Json& step : steps) {
    const auto op = step["op"].get<std::string>();
    count_object(step, op == "create" ? "create " + step["kind"].get<std::string>() : op, features);
    if (step.contains("body")) count_steps(step["body"], features);
  }
}

}  // namespace

void count_features(const Json& scenario, Features& features) {
  for (const Json& signal : scenario["signals"]) {
    count_object(signal, "kind " + signal["kind"].get<std::string>(), features);
  }
  count_steps(scenario["main"], features);
  for (const Json& event : scenario["trace"]) ++features["event " + event[0].get<std::string>()];
}

}  // namespace heist::reference
