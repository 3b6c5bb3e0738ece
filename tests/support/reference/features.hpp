// Counts what scenarios use of their format, so that tests can show that a generator uses all.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace heist::reference {

using Features = std::map<std::string, int>;

/// Counts each step ("post"), each of its members ("post.signal"), each kind of signal ("kind
/// abort-any"), and each event of the trace ("event resume").
void count_features(const nlohmann::json& scenario, Features& features);

}  // namespace heist::reference
