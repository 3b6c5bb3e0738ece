// LinePattern: a regular expression that is matched in portions of bounded time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace heistd {

/// A regular expression (RE2 syntax) to match single lines with, for one job.
///
/// RE2 builds the states of its automaton while it matches, which can cost a time in proportion to
/// the size of the pattern's program for each byte. It cannot stop midway, but what it has built
/// stays. So a long line is matched as a sequence of growing beginnings: each of them passes
/// quickly over what the one before has built states for, and adds a portion of bytes that is short
/// enough for the worst of patterns of that size. RE2's slow path for automata that outgrow their
/// memory is never used. Numbers: ADR 0027.
///
/// Thread: one at a time.
class LinePattern {
 public:
  /// Bound of the compiled program and its automaton together.
  static constexpr std::size_t max_memory = std::size_t{256} * 1024;
  /// Bounds of what compiling may cost. RE2 expands a repetition before it looks at its size, and
  /// needs 0.1 to 0.25 ms for each Unicode class (as \pL).
  static constexpr std::size_t max_unicode_classes = 4;
  static constexpr std::size_t max_repetitions = 2000;
  static constexpr std::size_t max_program_memory = std::size_t{32} * 1024;

  /// What one portion may take, on the machine of the ADR and with the worst of patterns; and from
  /// what that follows.
  static constexpr std::chrono::nanoseconds portion_time{2'500'000};
  static constexpr std::chrono::nanoseconds byte_time{500};
  static constexpr std::chrono::nanoseconds instruction_time{20};  ///< for each byte

  /// The size of the pattern's program, or why the pattern is refused.
  ///
  /// Thread: any.   Cost: 5 ms at most.   Errors: std::bad_alloc.
  using Checked = std::variant<std::size_t, std::string>;
  [[nodiscard]] static Checked check(std::string_view pattern);

  /// Precondition: check() gave that size for that pattern.
  ///
  /// Cost: 5 ms at most.   Errors: std::bad_alloc; JobFailure "pattern_too_costly" when the program
  /// leaves no memory for the automaton.
  LinePattern(std::string_view pattern, std::size_t program_size);

  /// Does one portion of matching: true when the pattern matches anywhere in the line, nothing
  /// while that is not known. Then the next call must be with the same line.
  ///
  /// Errors: JobFailure "pattern_too_costly" when a line of several portions needs more states than
  ///         there is memory for.
  [[nodiscard]] std::optional<bool> match(std::string_view line);

  /// How many bytes of a line one portion adds.
  [[nodiscard]] std::size_t portion_bytes() const noexcept { return portion_bytes_; }

  ~LinePattern();
  LinePattern(const LinePattern&) = delete;
  LinePattern& operator=(const LinePattern&) = delete;

 private:
  struct Automaton;

  void go_on_behind(std::size_t end, bool states_were_lost);
  void forget_line() noexcept;

  const std::unique_ptr<Automaton> automaton_;
  const std::size_t portion_bytes_;
  std::size_t built_ = 0;          ///< bytes of the line that there are states for
  bool lost_states_once_ = false;  ///< in this line
};

}  // namespace heistd
