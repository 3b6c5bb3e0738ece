// Path: the choices that make up one execution, and the search over all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "clock.hpp"

namespace heist::model {

/// How the tree of executions is walked.
///
/// exhaustive  depth first, over all executions with at most `preemptions` switches away from a
///             thread that could go on (none: any number). Reduced: a switch is tried only where it
///             can change the order of two dependent steps (dynamic partial order reduction,
///             Flanagan and Godefroid, POPL 2005; with a bound as in Coons, Musuvathi and McKinley,
///             OOPSLA 2013).
/// random      as many executions as asked for, each choice drawn from `seed`.
/// replay      the one execution that `trace` names.
struct Search {
  enum class Kind : std::uint8_t { exhaustive, random, replay };
  Kind kind = Kind::exhaustive;
  std::optional<int> preemptions = 2;
  std::uint64_t seed = 1;
  std::string trace;
};

class Path {
 public:
  static constexpr std::size_t none = SIZE_MAX;

  explicit Path(const Search& search);

  /// Starts an execution.
  void begin() noexcept;
  /// Prepares the next one; false when all have been seen (random: never).
  [[nodiscard]] bool next();

  /// One of `count` outcomes.
  [[nodiscard]] int choose(int count);
  /// Who takes the next step. `previous` took the last one.
  [[nodiscard]] ThreadId choose_thread(ThreadSet enabled, ThreadId previous);
  /// Where the last choose_thread() stands; `none` if there was no choice.
  [[nodiscard]] std::size_t last_switch() const noexcept { return last_switch_; }
  /// The step chosen there and the next one of `thread` depend on each other: try the other order,
  /// too.
  void reconsider(std::size_t at, ThreadId thread) noexcept;

  /// The execution's name, for Search::trace.
  [[nodiscard]] std::string trace() const;
  /// A replay has come to a choice that cannot be made: the program is not the one recorded.
  [[nodiscard]] bool derailed() const noexcept { return derailed_; }

 private:
  struct Entry {
    bool is_switch = false;
    int chosen = 0;
    int count = 0;          ///< of outcomes
    ThreadSet enabled = 0;  ///< a switch: who could go on
    ThreadSet to_try = 0;   ///< who shall
    ThreadSet tried = 0;    ///< who has
    ThreadId previous = 0;
    int preemptions = 0;  ///< before this one
  };

  [[nodiscard]] int draw(int count);
  [[nodiscard]] ThreadId draw_thread(ThreadSet enabled, ThreadId previous);
  [[nodiscard]] static bool is_preemption(const Entry& entry, ThreadId thread) noexcept;
  [[nodiscard]] bool affordable(const Entry& entry, ThreadId thread) const noexcept;
  [[nodiscard]] bool retry(Entry& entry) const noexcept;
  [[nodiscard]] int recorded(int count);

  Search search_;
  std::vector<Entry> entries_;
  std::size_t position_ = 0;
  std::size_t last_switch_ = none;
  int preemptions_ = 0;
  bool derailed_ = false;
  std::mt19937_64 random_;
};

}  // namespace heist::model
