// HelperCount: how many parts of a region wait for somebody, and how many helpers have been called.
#pragma once

#include <cstdint>
#include <heist/detail/sync.hpp>

namespace HEIST_NAMESPACE::detail {

/// Roles   offerer: whoever runs a part.  taker: whoever begins one.  helper: an agent, from its
///         call until it leaves. owner: the thread whose regions these are, one after another.
/// States  (offers, helpers that were called, those of them that have come) in one word.
/// I1      A helper leaves only while nothing is offered; an offer finds its helpers counted, or
///         calls one more: as long as something is offered, as many agents as may help do, or have
///         been called.
/// I2      Helpers come only while something is offered. So when none is there between two regions,
///         none comes.
/// Why     All is in one word: of an offer and a leave one comes first, and the other sees it.
/// Edge help: offer -> enter. Carries the region's fields.
/// Edge help: leave -> reuse. The helper has done with the fields.
/// The order of takes and looks with announcements: WaitingHelpers.
/// Proof   stress/model/models/parallel_helpers.cpp, stress/parallel_helpers_stress.cpp.
/// Progress  lock-free.
class HelperCount {
 public:
  /// True: one more helper is to be called, and is counted.
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
  /// True: that was the last one.
  [[nodiscard]] bool take() noexcept {
    return offers_of(word_.fetch_sub(one_offer, sync::edge("waiting:take", sync::seq_cst))) == 1;
  }
  /// A helper that was called. False: nothing is offered, and it is counted no more.
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
  /// A helper that has come. False: there is something to do.
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
  /// A helper that has come, and is called anew.
  void leave_called() noexcept {
    word_.fetch_sub(one_inside, sync::edge("help:leave", sync::release));
  }
  /// One that was called cannot come.
  void call_off() noexcept {
    word_.fetch_sub(one_helper, sync::relaxed);  // relaxed: it has seen nothing.
  }
  /// A helper that has announced that it waits.
  [[nodiscard]] bool has_offers() const noexcept {
    return offers_of(word_.load(sync::edge("waiting:offered", sync::seq_cst))) != 0;
  }
  [[nodiscard]] std::uint32_t offers_approx() const noexcept {
    return offers_of(word_.load(sync::relaxed));  // relaxed: a guess.
  }
  /// The owner, between two regions.
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
