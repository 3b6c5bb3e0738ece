// Reading the steps of a scenario (tests/conformance/posttask/FORMAT.md 5 and 6).
#pragma once

#include <chrono>
#include <functional>
#include <heist/priority.hpp>
#include <nlohmann/json.hpp>
#include <string>

namespace heist::test {

using Json = nlohmann::json;

/// Members of a step or of a signal's definition, which check_format() has seen.
[[nodiscard]] std::string text_of(const Json& object, const char* member);
[[nodiscard]] std::chrono::milliseconds time_of(const Json& object, const char* member);
[[nodiscard]] TaskPriority priority_of(const Json& object);
[[nodiscard]] bool has_flag(const Json& step, const char* member);

/// The steps of a step's body; none when it has no body.
[[nodiscard]] const Json& body_of(const Json& step);
/// What the trace calls the body of a step that has one.
[[nodiscard]] std::string label_of(const Json& step);

/// Whether a step waits, and whether the body of a step is asynchronous.
[[nodiscard]] bool waits(const Json& step);
[[nodiscard]] bool is_asynchronous(const Json& step);
/// Whether a post settles with the promise of another one.
[[nodiscard]] bool returns_task(const Json& post);

/// Visits the steps and those of their bodies, outer ones first, each with its place:
/// `main[2].body[0]`.
using Visit = std::function<void(const Json& step, const std::string& place)>;
void for_each_step(const Json& steps, const std::string& place, const Visit& visit);

}  // namespace heist::test
