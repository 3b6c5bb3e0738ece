// IdleAgents: who sleeps, and who is on the way to look for work.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <heist/sync.hpp>
#include <optional>

#include "heist/os/word_wait.hpp"

namespace heist::spike {

// Roles   agent: announces, looks again, sleeps.  publisher: wakes one after it has published.
// States  (sleeping: a bit for each agent; searching: those that were woken and have neither found anything nor
//         gone to sleep again).
// I1      While a published task is unclaimed: nobody sleeps, or somebody searches, or its publisher is about to wake
//         somebody.
// Why     A publisher that sees a searcher leaves it to that one: either it finds a task, and then wakes another one if
//         there is more; or it announces sleep, which ends its search in the same step, and looks again afterwards.
// D-edge  spike_idle: announce <-> notify, through the queues: publish, read this word; announce, look again.
// Progress  lock-free, but a searcher that is stopped holds up the wake-ups left to it.   Cost  a publisher reads one word; at most one system call, none while nobody sleeps or somebody
//         searches.
// Proof   stress/spike/models/sleepers.cpp.
template <unsigned Agents>
class IdleAgents {
  static_assert(Agents <= 32);

 public:
  using Clock = std::chrono::steady_clock;

  /// Any thread, after publishing: wakes one agent, unless all are awake or one searches.
  void notify() noexcept {
    Word old = word_.load(sync::edge("spike_idle:notify", sync::seq_cst));
    while (sleeping(old) != 0 && searching(old) == 0) {
      const auto agent = static_cast<unsigned>(std::countr_zero(sleeping(old)));
      if (word_.compare_exchange_weak(old, (old & ~bit(agent)) + one_searcher,
                                      sync::edge("spike_idle:notify", sync::seq_cst),
                                      sync::edge("spike_idle:notify", sync::seq_cst))) {
        return unpark(agent);
      }
    }
  }
  /// Any thread: wakes this agent if it sleeps.
  void wake(unsigned agent) noexcept {
    if (wake_up(agent)) unpark(agent);
  }

  /// The agent. What follows is a last look, then wait() or stay_awake().
  void announce(unsigned agent, bool was_searching) noexcept {
    word_.fetch_add(bit(agent) - (was_searching ? one_searcher : 0),
                    sync::edge("spike_idle:announce", sync::seq_cst));
  }
  /// The agent changed its mind. It is a searcher then, as if it had been woken: publishers may have counted on the
  /// search that its announcement ended.
  void stay_awake(unsigned agent) noexcept { static_cast<void>(wake_up(agent)); }
  /// The agent sleeps until somebody wakes it (true), or the deadline. It is a searcher then.
  bool wait(unsigned agent, std::optional<Clock::time_point> deadline) noexcept {
    auto& wakes = places_[agent].wakes;
    for (;;) {
      const auto seen = wakes.load(sync::edge("spike_idle:woken", sync::seq_cst));
      const Word now = word_.load(sync::edge("spike_idle:woken", sync::seq_cst));
      if ((now & bit(agent)) == 0) return true;
      wait_on_word(wakes, seen, deadline);
      if (deadline) return !wake_up(agent);
    }
  }
  /// A searcher found a task, and took it.   Returns whether it is to look for more and wake another one.
  [[nodiscard]] bool end_search() noexcept {
    const Word old =
        word_.fetch_sub(one_searcher, sync::edge("spike_idle:announce", sync::seq_cst));
    return sleeping(old) != 0;
  }

 private:
  using Word = std::uint64_t;
  static constexpr Word one_searcher = Word{1} << 32;
  static Word bit(unsigned agent) noexcept { return Word{1} << agent; }
  static Word sleeping(Word word) noexcept { return word & (one_searcher - 1); }
  static Word searching(Word word) noexcept { return word >> 32; }
  /// From sleeping to searching, unless somebody has done that.
  bool wake_up(unsigned agent) noexcept {
    Word old = word_.load(sync::edge("spike_idle:notify", sync::seq_cst));
    while ((old & bit(agent)) != 0) {
      if (word_.compare_exchange_weak(old, old - bit(agent) + one_searcher,
                                      sync::edge("spike_idle:notify", sync::seq_cst),
                                      sync::edge("spike_idle:notify", sync::seq_cst))) {
        return true;
      }
    }
    return false;
  }
  void unpark(unsigned agent) noexcept {
    places_[agent].wakes.fetch_add(1, sync::edge("spike_idle:wake", sync::seq_cst));
    wake_word(places_[agent].wakes);
  }

  struct alignas(64) Place {
    sync::atomic<std::uint32_t> wakes{0};  ///< a wake-up that comes late wakes for nothing
  };
  alignas(64) sync::atomic<Word> word_{0};
  std::array<Place, Agents> places_;
};

}  // namespace heist::spike
