// TimerKeeper: which agent looks after the delays of a cluster, and which one sleeps no longer than
// the first of them.
#pragma once

#include <cstdint>
#include <heist/detail/sync.hpp>
#include <optional>

#include "../os/word_wait.hpp"

namespace HEIST_NAMESPACE::detail {

// What is armed goes to an inbox; the wheel behind it belongs to whoever has the keeper's role,
// which is given back before any task is started. While agents sleep one of them is the watcher: it
// sleeps no longer than the first deadline.
//
// Roles   armer: any thread.  keeper: the agent that has the role, or a late armer, one at a time.
//         watcher: a sleeping agent, one at a time.
// States  role_: free, taken, or awaited: taken, and the last agent waits for it.  watch_: nobody,
//         or (watcher, when it wakes).  next_due_: the first deadline of what keepers took over, or
//         never.
// I1      Whoever gives the role back looks at the inbox again, and wakes somebody for what was
//         armed meanwhile, unless somebody searches: a searcher looks for it too, before it sleeps
//         or when it ends its search.
// I2      While agents sleep and a delay is armed: the watcher wakes in time, or an agent is awake
//         that has not started a task, or a wake-up is in flight.
// Why     Whoever made the first deadline earlier (an armer by its push, a keeper by next_due_)
//         reads watch_ then, and wakes the watcher, or somebody if there is none. Whoever becomes
//         the watcher reads both then.
// Edge keeper: give_back -> take_role. Carries the wheel.
// Edge keeper: keep <-> watch. Keep, then look who watches; watch, then read what is kept. (And
//         Inbox's: arm, watch.)
// Edge keeper: give_back <-> ask. Give back, then look at the inbox; see it not empty, then ask for
//         a keeper.
// Progress  lock-free for armers. An agent stopped in the role stops the delays, and, if it is a
//         searcher, the wake-ups left to it; a late armer stopped there stops the close.
// Proof   stress/model/models/cluster_timers.cpp.
class TimerKeeper {
 public:
  using Due = std::uint64_t;
  static constexpr Due never = ~Due{0};

  struct Watch {
    Due until = never;
    std::optional<unsigned> watcher;
  };
  [[nodiscard]] Watch watch() const noexcept {
    const Word word = watch_.load(sync::edge("keeper:watch", sync::seq_cst));
    if (word == 0) return {};
    return {word >> 8, static_cast<unsigned>(word & 255) - 1};
  }

  /// Takes the role, unless somebody has it.
  [[nodiscard]] bool try_begin() noexcept {
    std::uint32_t nobody = free;
    return role_.compare_exchange_strong(nobody, taken,
                                         sync::edge("keeper:take_role", sync::seq_cst),
                                         sync::edge("keeper:take_role", sync::seq_cst));
  }
  /// Called by the last agent that leaves: takes the role for good, as soon as the present keeper
  /// gives it back.
  void begin_for_good() noexcept {
    while (role_.exchange(awaited, sync::edge("keeper:take_role", sync::seq_cst)) != free) {
      wait_on_word(role_, awaited, std::nullopt);
    }
  }
  /// Called by the keeper when it has finished with the wheel. It has to look at the inbox again
  /// then.
  void end(Due first) noexcept {
    next_due_.store(first, sync::edge("keeper:keep", sync::seq_cst));
    const auto before = role_.exchange(free, sync::edge("keeper:give_back", sync::seq_cst));
    if (before == awaited) wake_all_on_word(role_);
  }
  /// Whether there is a keeper. To be read after what needs one was published: the present keeper
  /// looks again when it has given the role back.
  [[nodiscard]] bool has_keeper() const noexcept {
    return role_.load(sync::edge("keeper:ask", sync::seq_cst)) != free;
  }
  [[nodiscard]] Due next_due() const noexcept {
    return next_due_.load(sync::edge("keeper:keep", sync::seq_cst));
  }

  /// Called by an agent that has announced its sleep. Returns true when it is the watcher now; then
  /// a last look has to follow, and a sleep until `until`.
  [[nodiscard]] bool try_watch(unsigned agent, Due until) noexcept {
    Word nobody = 0;
    const Due kept = until < latest ? until : latest;
    return watch_.compare_exchange_strong(nobody, (kept << 8) | (agent + 1),
                                          sync::edge("keeper:watch", sync::seq_cst),
                                          sync::edge("keeper:watch", sync::seq_cst));
  }
  void stop_watching() noexcept { watch_.store(0, sync::edge("keeper:watch", sync::seq_cst)); }

 private:
  using Word = std::uint64_t;
  /// The latest time that fits beside the watcher in the word. For a later one the watcher wakes at
  /// this time already.
  static constexpr Due latest = never >> 8;
  // Values of role_.
  static constexpr std::uint32_t free = 0;
  static constexpr std::uint32_t taken = 1;
  static constexpr std::uint32_t awaited = 2;

  alignas(64) sync::atomic<Due> next_due_{never};
  sync::atomic<std::uint32_t> role_{free};
  sync::atomic<Word> watch_{0};  ///< until << 8 | watcher + 1
};

}  // namespace HEIST_NAMESPACE::detail
