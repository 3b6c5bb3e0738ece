// AgentActivity: what an agent says it does, for the closes that wait for it and count its tasks.
#pragma once

#include <cstdint>
#include <heist/detail/sync.hpp>

namespace HEIST_NAMESPACE::detail {

/// What an agent runs. It is the same on all agents that run parts of one tree of forked calls, and
/// is only compared.
struct Running {
  const void* what = nullptr;  ///< null when it runs nothing
  bool is_counted = false;     ///< whether it is a task; a reaction, or a part of its tree, is none
  bool moves_tasks = false;    ///< whether a task may be in no place that is counted

  friend bool operator==(const Running&, const Running&) = default;
};

// One word has the address of what the agent runs, and two marks beside it.
//
// Roles   agent: writes.  closer: any thread; reads.
// States  rests: nothing is left to do, or the agent only drops what is left.  runs something,
//         which counts as a task or not.  moves tasks, within what it runs or between two tasks.
// I1      While the agent does not move tasks, each of them is in exactly one of the places that a
//         closer counts: the inbox, a queue, a delay, those begun, those dropped. While it moves
//         tasks, one may be in none of them, or in two.
// Edge running: publish -> steal. Carries to a close the running task, or the task to whose tree a
//         stolen part belongs, and the numbers that were written before.
// Progress  wait-free.   Proof  stress/model/models/closing.cpp
class AgentActivity {
 public:
  /// What the agent says, as a value that it can keep and say again.
  using Word = std::uintptr_t;

  /// Called by the agent after it has published and counted the task.
  void say_runs(const void* task) noexcept { say(word_of(task)); }
  /// The same for something that is not counted as a task.
  void say_runs_uncounted(const void* what) noexcept { say(word_of(what) | uncounted_mark); }
  void say_rests() noexcept { say(0); }
  /// Called by the agent between two tasks.
  void say_moves() noexcept {
    // relaxed: a closer that sees it reads nothing on the strength of it.
    word_.store(moving_mark, sync::relaxed);
  }
  void say_again(Word said) noexcept { say(said); }
  [[nodiscard]] Word said() const noexcept {
    return word_.load(sync::relaxed);  // relaxed: the agent reads what it wrote.
  }

  /// A scope in which the agent moves tasks, within what it runs.
  class Moving {
   public:
    explicit Moving(AgentActivity& activity) noexcept
        : activity_(activity), outer_(activity.said()) {
      activity.say(outer_ | moving_mark);
    }
    Moving(const Moving&) = delete;
    Moving& operator=(const Moving&) = delete;
    ~Moving() { activity_.say(outer_); }

   private:
    AgentActivity& activity_;
    const Word outer_;
  };

  // What any thread may call.
  [[nodiscard]] Running running() const noexcept {
    const Word word = read();
    const Word what = word & ~(uncounted_mark | moving_mark);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): made by word_of()
    const auto* const address = reinterpret_cast<const void*>(what);
    return {.what = address,
            .is_counted = what != 0 && (word & uncounted_mark) == 0,
            .moves_tasks = (word & moving_mark) != 0};
  }
  [[nodiscard]] bool runs_something() const noexcept { return (read() & ~moving_mark) != 0; }

 private:
  static constexpr Word uncounted_mark = 1;
  static constexpr Word moving_mark = 2;

  static Word word_of(const void* what) noexcept { return reinterpret_cast<Word>(what); }
  void say(Word word) noexcept { word_.store(word, sync::edge("running:publish", sync::release)); }
  [[nodiscard]] Word read() const noexcept {
    return word_.load(sync::edge("running:steal", sync::acquire));
  }

  sync::atomic<Word> word_{0};
};

}  // namespace HEIST_NAMESPACE::detail
