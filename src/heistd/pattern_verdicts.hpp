// PatternVerdicts: which patterns of one client were compiled before, and how that went.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <unordered_map>

namespace heistd {

/// Remembers the newest patterns, so that a pattern is checked once and not for each job.   Thread:
/// the network's.
class PatternVerdicts {
 public:
  static constexpr std::size_t max_patterns = 64;

  /// Why the pattern is refused, empty when it is good; null when that is not known.
  [[nodiscard]] const std::string* find(const std::string& pattern) const;

  void add(const std::string& pattern, std::string refusal);

 private:
  std::unordered_map<std::string, std::string> verdicts_;
  std::deque<std::string> by_age_;  ///< oldest first
};

}  // namespace heistd
