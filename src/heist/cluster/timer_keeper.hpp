// TimerKeeper: decides which agent looks after the delays of a cluster, and which one sleeps no
// longer than until the first delay ends.
#pragma once

#include <cstdint>
#include <heist/detail/sync.hpp>
#include <optional>

#include "../os/word_wait.hpp"

namespace HEIST_NAMESPACE::detail {

// Delays that are armed go to an inbox. The wheel behind it belongs to the agent with the keeper's
// role. That agent gives the role back before it starts any task. While agents sleep, one of them
// is the watcher: it sleeps no longer than until the first deadline.
//
// Roles   armer: any thread.  keeper: the agent that has the role, or a late armer, one at a time.
//         watcher: a sleeping agent, one at a time.
// States  role_: free, taken, or awaited (taken, and the last agent waits for it).  watch_: nobody,
//         or the watcher and when it wakes.  next_due_: the first deadline of the delays that
//         keepers took over, or never.
// I1      Whoever gives the role back looks at the inbox again. It wakes somebody for what was
//         armed meanwhile, unless somebody searches: a searcher looks at the inbox too, before it
//         sleeps or when it ends its search.
// I2      While agents sleep and a delay is armed, the watcher wakes in time, or an agent is awake
//         that has not started a task, or a wake-up is under way.
// Why     Whoever makes the first deadline earlier (an armer by its push, a keeper by next_due_)
//         reads watch_ afterwards. It wakes the watcher, or somebody if there is no watcher.
//         Whoever becomes the watcher reads both the inbox and next_due_ afterwards.
// Edge keeper: give_back -> take_role. Carries the wheel.
// Edge keeper: keep <-> watch. Keep, then look who watches; watch, then read what is kept. (And
//         Inbox's: arm, watch.)
// Edge keeper: give_back <-> ask. Give back, then look at the inbox; see it not empty, then ask for
//         a keeper.
// Progress  lock-free for armers. An agent that is stopped in the role stops the delays and, if it
//         is a searcher, the wake-ups that were left to it. A late armer that is stopped in the
//         role stops the close.
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
    const Due until = word >> watcher_bits;
    return {until < latest ? until : never, static_cast<unsigned>(word & (one_tick - 1)) - 1};
  }

  /// Takes the role, unless somebody has it.
  [[nodiscard]] bool try_begin() noexcept {
    std::uint32_t nobody = free;
    return role_.compare_exchange_strong(nobody, taken,
                                         sync::edge("keeper:take_role", sync::seq_cst),
                                         sync::edge("keeper:take_role", sync::seq_cst));
  }
  /// Takes the role as soon as the present keeper gives it back.
  void begin() noexcept {
    while (role_.exchange(awaited, sync::edge("keeper:take_role", sync::seq_cst)) != free) {
      wait_on_word(role_, awaited, std::nullopt);
    }
  }
  /// Called by the keeper when it has finished with the wheel. The keeper has to look at the inbox
  /// afterwards.
  void end(Due first) noexcept {
    next_due_.store(first, sync::edge("keeper:keep", sync::seq_cst));
    const auto before = role_.exchange(free, sync::edge("keeper:give_back", sync::seq_cst));
    if (before == awaited) wake_all_on_word(role_);
  }
  /// Whether there is a keeper. To be read after the caller has published something that needs one:
  /// the present keeper looks again after it has given the role back.
  [[nodiscard]] bool has_keeper() const noexcept {
    return role_.load(sync::edge("keeper:ask", sync::seq_cst)) != free;
  }
  [[nodiscard]] Due next_due() const noexcept {
    return next_due_.load(sync::edge("keeper:keep", sync::seq_cst));
  }
  /// For whoever compares it (UrgentLook).
  [[nodiscard]] const sync::atomic<Due>& due_word() const noexcept { return next_due_; }

  /// Called by an agent that has announced its sleep. Returns true when the agent is the watcher
  /// now. Then it has to look a last time, and to sleep until `until`.
  [[nodiscard]] bool try_watch(unsigned agent, Due until) noexcept {
    Word nobody = 0;
    const Due kept = until < latest ? until : latest;
    return watch_.compare_exchange_strong(nobody, kept * one_tick + agent + 1,
                                          sync::edge("keeper:watch", sync::seq_cst),
                                          sync::edge("keeper:watch", sync::seq_cst));
  }
  void stop_watching() noexcept { watch_.store(0, sync::edge("keeper:watch", sync::seq_cst)); }

 private:
  using Word = std::uint64_t;
  static constexpr unsigned watcher_bits = 11;
  static constexpr Word one_tick = Word{1} << watcher_bits;
  /// Times from this one on do not fit into the word beside the watcher. A watcher until then may
  /// have to be woken for any other delay.
  static constexpr Due latest = never >> watcher_bits;
  // Values of role_.
  static constexpr std::uint32_t free = 0;
  static constexpr std::uint32_t taken = 1;
  static constexpr std::uint32_t awaited = 2;

  alignas(64) sync::atomic<Due> next_due_{never};
  sync::atomic<std::uint32_t> role_{free};
  sync::atomic<Word> watch_{0};  ///< until * one_tick + watcher + 1
};

}  // namespace HEIST_NAMESPACE::detail
