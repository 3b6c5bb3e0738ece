// ReserveGroup: counts blocked members of a cluster, and decides which of some extra agents take
// part in their places.
#pragma once

#include <bit>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <optional>

#include "idle_agents.hpp"

namespace HEIST_NAMESPACE::detail {

// This is one word. A reserve that is present picks and sleeps as every agent does. A reserve that
// is absent runs only what its own loop has. Which members are counted here says Reserves.
//
// Roles   member: an agent or a reserve; it blocks, and goes on.  reserve: known by its rank; it
//         stands down, and rests.
// States  (present: a bit for each reserve; resting: a bit for each reserve that is absent, and
//         sleeps or has no thread; blocked: how many members are blocked).
// I1      At least as many reserves are present as members are blocked, or all reserves are
//         present: enter() adds one if that is needed.
// I2      Only enter() makes a reserve present. Only the reserve makes itself absent, and only if
//         more are present than are needed. It rests only while it is absent. So either it sees
//         that it is needed, or enter() sees that it rests.
// Edge reserves: rest -> enter. Carries the wake-up word that the reserve prepared.
// Edge reserves: rest <-> quiet. Rest, then see who awaits (ClusterClosing); await, then see who
// rests.
// Edge reserves: enter, leave <-> room. Between groups; Reserves says why.
// Progress  lock-free.   Cost  one read-modify-write each.
// Proof   stress/model/models/cluster_blocking.cpp, docs/adr/0016
class ReserveGroup {
 public:
  static constexpr unsigned most = 26;

  /// At the beginning all reserves rest.
  explicit ReserveGroup(unsigned count) noexcept
      : all_((Word{1} << count) - 1), word_(all_ << resting_shift) {}

  /// Called when a member begins to block; `own` is its rank if it is a reserve. Returns the
  /// reserve that has to be woken, if any.
  [[nodiscard]] std::optional<unsigned> enter(std::optional<unsigned> own) noexcept {
    const Word own_bit = own ? present_bit(*own) : 0;
    Word old = word_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    for (;;) {
      Word now = (old + one_blocked) | own_bit;  // a blocked reserve takes no other's place
      const auto resting = fill(now);
      if (word_.compare_exchange_weak(old, now, sync::edge("reserves:enter", sync::seq_cst),
                                      sync::relaxed)) {  // relaxed: a failure retries.
        return resting;
      }
    }
  }
  /// As enter(), but only if a reserve is left for one more member. Returns false if none is.
  [[nodiscard]] bool try_enter(std::optional<unsigned>& resting) noexcept {
    Word old = word_.load(sync::edge("reserves:room", sync::seq_cst));
    while (blocked(old) < count()) {
      Word now = old + one_blocked;
      resting = fill(now);
      if (word_.compare_exchange_weak(old, now, sync::edge("reserves:enter", sync::seq_cst),
                                      sync::edge("reserves:room", sync::seq_cst))) {
        return true;
      }
    }
    return false;
  }
  /// Called when a member goes on. Returns false if no more than `rest` members are counted here.
  [[nodiscard]] bool try_leave(unsigned rest = 0) noexcept {
    Word old = word_.load(sync::edge("reserves:room", sync::seq_cst));
    while (blocked(old) > rest) {
      if (word_.compare_exchange_weak(old, old - one_blocked,
                                      sync::edge("reserves:leave", sync::seq_cst),
                                      sync::edge("reserves:room", sync::seq_cst))) {
        return true;
      }
    }
    return false;
  }
  /// The same for a member for which no reserve is left.
  [[nodiscard]] bool try_leave_without_reserve() noexcept { return try_leave(count()); }
  /// Whether more members are counted here than there are reserves.
  [[nodiscard]] bool lacks_reserves() const noexcept {
    return blocked(word_.load(sync::edge("reserves:room", sync::seq_cst))) > count();
  }

  /// Called by the reserve before it picks. Returns true if it was present and is not needed any
  /// more. Then it is absent now.
  [[nodiscard]] bool stand_down(unsigned rank) noexcept {
    Word old =
        word_.load(sync::relaxed);  // relaxed: the CAS checks it; a late look picks once more.
    while ((old & present_bit(rank)) != 0 && has_surplus(old)) {
      // relaxed, both: only the bits count.
      if (word_.compare_exchange_weak(old, old & ~present_bit(rank), sync::relaxed, sync::relaxed))
        return true;
    }
    return false;
  }
  /// Called by the reserve.
  [[nodiscard]] bool is_present(unsigned rank) const noexcept {
    // relaxed: try_park() looks again.
    return (word_.load(sync::relaxed) & present_bit(rank)) != 0;
  }
  /// Whether more reserves are present than are needed.
  [[nodiscard]] bool has_surplus() const noexcept {
    return has_surplus(word_.load(sync::relaxed));  // relaxed: stand_down() looks again.
  }
  /// Called by the reserve before it sleeps. Returns false when it is present.
  [[nodiscard]] bool try_park(unsigned rank) noexcept {
    Word old = word_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    while ((old & present_bit(rank)) == 0) {
      if (word_.compare_exchange_weak(old, old | resting_bit(rank),
                                      sync::edge("reserves:rest", sync::seq_cst),
                                      sync::relaxed)) {  // relaxed: a failure retries.
        return true;
      }
    }
    return false;
  }
  /// Called by the reserve when it is awake again, for whatever reason.
  void end_park(unsigned rank) noexcept {
    word_.fetch_and(~resting_bit(rank), sync::edge("reserves:rest", sync::seq_cst));
  }
  /// Called for a reserve that enter() has returned, but that cannot come.
  void withdraw(unsigned rank) noexcept {
    Word old = word_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    while (!word_.compare_exchange_weak(old, (old & ~present_bit(rank)) | resting_bit(rank),
                                        sync::edge("reserves:rest", sync::seq_cst),
                                        sync::relaxed)) {  // relaxed: a failure retries.
    }
  }

  /// For a close.
  [[nodiscard]] bool is_at_rest(unsigned rank) const noexcept {
    return (word_.load(sync::edge("reserves:quiet", sync::seq_cst)) & resting_bit(rank)) != 0;
  }

 private:
  using Word = std::uint64_t;
  static constexpr unsigned resting_shift = most;
  static constexpr unsigned blocked_shift = 2 * most;
  static constexpr Word one_blocked = Word{1} << blocked_shift;
  static_assert(~Word{0} >> blocked_shift > IdleAgents::most_agents, "all members may be blocked");

  static Word present_bit(unsigned rank) noexcept { return Word{1} << rank; }
  static Word resting_bit(unsigned rank) noexcept { return present_bit(rank) << resting_shift; }
  static unsigned blocked(Word word) noexcept {
    return static_cast<unsigned>(word >> blocked_shift);
  }
  [[nodiscard]] unsigned count() const noexcept {
    return static_cast<unsigned>(std::popcount(all_));
  }
  [[nodiscard]] unsigned present(Word word) const noexcept {
    return static_cast<unsigned>(std::popcount(word & all_));
  }
  [[nodiscard]] bool has_surplus(Word word) const noexcept { return present(word) > blocked(word); }

  /// Makes one more reserve present, if one is missing and one is absent. Returns it if it rested.
  std::optional<unsigned> fill(Word& word) const noexcept {
    const Word absent = all_ & ~word;
    if (present(word) >= blocked(word) || absent == 0) return std::nullopt;
    const auto rank = static_cast<unsigned>(std::countr_zero(absent));
    word |= present_bit(rank);
    if ((word & resting_bit(rank)) == 0) return std::nullopt;
    word &= ~resting_bit(rank);
    return rank;
  }

  const Word all_;
  alignas(64) sync::atomic<Word> word_;
};

}  // namespace HEIST_NAMESPACE::detail
