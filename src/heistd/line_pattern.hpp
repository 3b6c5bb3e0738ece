// LinePattern: a regular expression that costs linear time, whatever the pattern and the line.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace heistd {

/// A regular expression (RE2 syntax) to match single lines with.
///
/// Only RE2's automaton is used, never its slow path for automata that outgrow their memory: such a match is
/// refused instead, so that no pattern can hold the agent for long.
///
/// Thread: any; agents that match with it at once share its automaton, which has locks of its own.
class LinePattern {
 public:
  /// Bound of the compiled program and its automaton together.
  static constexpr std::size_t max_memory = std::size_t{1} << 20U;

  /// The pattern, or why it was refused.   Errors: std::bad_alloc.
  using Compiled = std::variant<std::shared_ptr<const LinePattern>, std::string>;
  [[nodiscard]] static Compiled compile(std::string_view pattern);

  /// True when the pattern matches anywhere in the line.   Errors: JobFailure "pattern_too_costly".
  [[nodiscard]] bool matches(std::string_view line) const;

  ~LinePattern();
  LinePattern(const LinePattern&) = delete;
  LinePattern& operator=(const LinePattern&) = delete;

 private:
  struct Automaton;
  explicit LinePattern(std::unique_ptr<Automaton> automaton) noexcept;

  std::unique_ptr<Automaton> automaton_;
};

}  // namespace heistd
