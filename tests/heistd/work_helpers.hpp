// Cutting bytes into blocks, and running work to its end.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <heistd/builtin/builtin_kinds.hpp>
#include <heistd/builtin/line_pattern.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>

namespace heistd {

/// `bytes` in blocks of the given size (the last may be shorter).
inline Blocks cut(std::string_view bytes, std::size_t size) {
  Blocks blocks;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size()))) {
    blocks.emplace_back(bytes.substr(0, size));
  }
  return blocks;
}

/// Runs the work in steps of the given budget; `steps`, when given, receives their number.
inline JobResult run(JobWork& work, std::chrono::nanoseconds budget = std::chrono::hours(1),
                     std::size_t* steps = nullptr) {
  std::size_t count = 1;
  while (!work.step(budget)) ++count;
  if (steps != nullptr) *steps = count;
  return work.take_result();
}

inline std::string join(const Blocks& blocks) {
  std::string all;
  for (const auto& block : blocks) all += block;
  return all;
}

/// All of a reply's body.
inline std::string join(const Body& body) {
  const auto all = body.before + (body.shared ? join(*body.shared) : "") + body.after;
  return body.part ? all.substr(body.part->offset, body.part->size) : all;
}

/// The result of work that gives a JSON value.
inline nlohmann::json json_of(const JobResult& result) {
  return nlohmann::json::parse(join(std::get<JsonResult>(result).text));
}

inline std::unique_ptr<LinePattern> compiled(std::string_view pattern) {
  return std::make_unique<LinePattern>(pattern, std::get<std::size_t>(LinePattern::check(pattern)));
}

/// Matches a line to the end; `portions`, when given, receives in how many steps.
inline bool matches(LinePattern& pattern, std::string_view line, std::size_t* portions = nullptr) {
  std::size_t count = 1;
  auto matched = pattern.match(line);
  for (; !matched; matched = pattern.match(line)) ++count;
  if (portions != nullptr) *portions = count;
  return *matched;
}

}  // namespace heistd
