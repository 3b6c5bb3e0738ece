// HelperCount: counts the parts of a region that wait for somebody, and the helpers that were
// called.
#pragma once

#include <cstdint>
#include <heist/detail/sync.hpp>

namespace HEIST_NAMESPACE::detail {

/// Roles   offerer: a thread that runs a part.  taker: a thread that begins one.  helper: an agent,
///         from its call until it leaves.  owner: the thread to which the regions belong, one after
///         another.
/// States  One word has (offers, helpers that were called, how many of these have come).
/// I1      A helper leaves only while nothing is offered. An offer finds its helpers counted, or
///         calls one more. So as long as something is offered, as many agents as may help do so, or
///         have been called.
/// I2      Helpers come only while something is offered. So if no helper is there between two
///         regions, none comes.
/// Why     All is in one word: of an offer and a leave one comes first, and the other one sees it.
/// Edge help: offer -> enter. Carries the region's fields.
/// Edge help: leave -> reuse. The helper has finished with the fields.
/// WaitingHelpers orders takes and looks with announcements.
/// Proof   stress/model/models/parallel_helpers.cpp, stress/parallel_helpers_stress.cpp.
/// Progress  lock-free.
class HelperCount {
 public:
  /// Returns true when one more helper is to be called; that helper is counted already.
  [[nodiscard]] bool offer(std::uint32_t most_helpers) noexcept {
    Word old = word_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    for (;;) {
      const bool calls = helpers_of(old) < most_helpers;
      const Word next = old + one_offer + (calls ? one_helper : 0);
      if (word_.compare_exchange_weak(old, next, sync::edge("help:offer", sync::release),
                                      sync::relaxed)) {  // relaxed: a failure only retries.
        return calls;
      }
    }
  }
  /// Returns true when that was the last offer.
  [[nodiscard]] bool take() noexcept {
    return offers_of(word_.fetch_sub(one_offer, sync::edge("waiting:take", sync::seq_cst))) == 1;
  }
  /// Called by a helper that was called. Returns false when nothing is offered; then the helper is
  /// not counted any more.
  [[nodiscard]] bool try_enter() noexcept {
    Word old = word_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    for (;;) {
      const bool enters = offers_of(old) != 0;
      const Word next = enters ? old + one_inside : old - one_helper;
      if (word_.compare_exchange_weak(old, next, sync::edge("help:enter", sync::acquire),
                                      sync::relaxed)) {  // relaxed: a failure only retries.
        return enters;
      }
    }
  }
  /// Called by a helper that has come. Returns false when there is something to do.
  [[nodiscard]] bool try_leave() noexcept {
    Word old = word_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    while (offers_of(old) == 0) {
      if (word_.compare_exchange_weak(old, old - one_inside - one_helper,
                                      sync::edge("help:leave", sync::release),
                                      sync::relaxed)) {  // relaxed: a failure only retries.
        return true;
      }
    }
    return false;
  }
  /// Called by a helper that has come, and that will be called again.
  void leave_called() noexcept {
    word_.fetch_sub(one_inside, sync::edge("help:leave", sync::release));
  }
  /// Called when a helper that was called cannot come.
  void call_off() noexcept {
    word_.fetch_sub(one_helper, sync::relaxed);  // relaxed: it has seen nothing.
  }
  /// Called by a helper that has announced that it waits.
  [[nodiscard]] bool has_offers() const noexcept {
    return offers_of(word_.load(sync::edge("waiting:offered", sync::seq_cst))) != 0;
  }
  [[nodiscard]] std::uint32_t offers_approx() const noexcept {
    return offers_of(word_.load(sync::relaxed));  // relaxed: a guess.
  }
  /// Called by the owner, between two regions.
  [[nodiscard]] bool has_helpers_inside() const noexcept {
    return (word_.load(sync::edge("help:reuse", sync::acquire)) >> 48U) != 0;
  }

 private:
  using Word = std::uint64_t;
  static constexpr Word one_offer = 1;
  static constexpr Word one_helper = Word{1} << 32U;
  static constexpr Word one_inside = Word{1} << 48U;
  static std::uint32_t offers_of(Word word) noexcept { return static_cast<std::uint32_t>(word); }
  static std::uint32_t helpers_of(Word word) noexcept {
    return static_cast<std::uint32_t>(word >> 32U) & 0xffffU;
  }

  alignas(64) sync::atomic<Word> word_{0};
};

}  // namespace HEIST_NAMESPACE::detail
