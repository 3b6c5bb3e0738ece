// CloseCalls: the calls of close() that wait for an agent's end.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <heist/event_loop.hpp>
#include <optional>

#include "../os/word_wait.hpp"

namespace HEIST_NAMESPACE::detail {

// One word has both: how far the agent is, and which calls have left.
//
// Roles   caller: any thread, in a call of close(), which has a number.  agent: says how far it is.
// States  A stage: open; closed, when the agent's loop is; stopped, when on_stop has returned, too.
//         Beside it the youngest call that has left at its deadline.
// I1      A call that leaves takes along those that came before it, so that the deadline of the
//         latest call counts for all that wait by then. A call that comes afterwards waits for as
//         long as it asks for.
// Edge close_calls: reach -> see. Carries what the agent has done until then.
// Bound   2^30 calls in one process.
// Progress  lock-free but for wait().   Proof  stress/model/models/closing.cpp
class CloseCalls {
 public:
  using Number = std::uint32_t;
  using Moment = std::optional<std::chrono::steady_clock::time_point>;
  enum class Stage : std::uint8_t { open, closed, stopped };

  /// The number of a new call. Calls of all agents share the numbers.
  [[nodiscard]] static Number next() noexcept {
    return numbers_given.fetch_add(1, sync::relaxed) + 1;  // relaxed: only its order counts.
  }

  /// Called by the agent. Stages never go back.
  void reach(Stage stage) noexcept {
    Word old = word_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    const auto next = static_cast<Word>(stage);
    while (!word_.compare_exchange_weak(old, (old & ~stage_mask) | next,
                                        sync::edge("close_calls:reach", sync::acq_rel),
                                        sync::relaxed)) {  // relaxed: a failure retries.
    }
    wake_all_on_word(word_);
  }
  [[nodiscard]] Stage stage() const noexcept {
    return stage_of(word_.load(sync::edge("close_calls:see", sync::acquire)));
  }

  /// Called by a caller of close(). Returns false when `until` has come first.   Blocks: until the
  /// agent has stopped, or a later call leaves.
  [[nodiscard]] bool wait(Number call, Moment until) noexcept {
    return await(until, [call](Word seen) noexcept {
      return stage_of(seen) == Stage::stopped || left_of(seen) > call;
    });
  }
  /// Waits in the same way until the agent's loop is closed.
  bool wait_closed(Moment until) noexcept {
    return await(until, [](Word seen) noexcept { return stage_of(seen) != Stage::open; });
  }
  /// Called at the call's deadline.
  void leave(Number call) noexcept {
    Word old = word_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    while (left_of(old) < call) {
      const Word now = call << stage_bits | (old & stage_mask);
      // relaxed, both: it carries nothing. A caller that returns looks at the agent itself.
      if (word_.compare_exchange_weak(old, now, sync::relaxed, sync::relaxed)) {
        return wake_all_on_word(word_);
      }
    }
  }

 private:
  using Word = std::uint32_t;
  static constexpr unsigned stage_bits = 2;
  static constexpr Word stage_mask = (Word{1} << stage_bits) - 1;

  static Stage stage_of(Word word) noexcept { return static_cast<Stage>(word & stage_mask); }
  static Number left_of(Word word) noexcept { return word >> stage_bits; }

  template <class Condition>
  bool await(Moment until, Condition&& is_met) noexcept {
    for (;;) {
      const Word seen = word_.load(sync::edge("close_calls:see", sync::acquire));
      if (is_met(seen)) return true;
      if (until && std::chrono::steady_clock::now() >= *until) return false;
      wait_on_word(word_, seen, until);
    }
  }

  static inline constinit sync::atomic<Number> numbers_given{0};
  sync::atomic<Word> word_{0};
};

/// One call of close().
struct CloseCall {
  explicit CloseCall(const CloseMode& mode) noexcept : deadline(mode.deadline) {}

  const CloseCalls::Number number = CloseCalls::next();
  const CloseCalls::Moment deadline;
};

}  // namespace HEIST_NAMESPACE::detail
