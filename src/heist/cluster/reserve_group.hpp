// ReserveGroup: counts blocked agents of a cluster, and decides which of some extra agents take
// part in their places.
#pragma once

#include <bit>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <optional>

#include "idle_agents.hpp"

namespace HEIST_NAMESPACE::detail {

// This is one word. A reserve that is present picks and sleeps as every agent does. A reserve that
// is absent runs only what its own loop has. Which agents are counted here says Reserves.
//
// Roles   agent: it blocks, and goes on.  reserve: known by its rank; it blocks, and goes on; it
//         stands down, and rests.
// States  (present: a bit for each reserve; resting: a bit for each reserve that is absent, and
//         sleeps or has no thread; away: a bit for each reserve that is blocked itself; places: how
//         many blocked agents are counted here).
// I1      As many reserves are present and not away as there are places, or more, or all that are
//         not away are present: whoever adds a place, or is away from one, calls one up if that is
//         needed. The exception is a reserve whose thread could not be made (withdraw()), until
//         somebody blocks again.
// I2      Only who blocks or goes on makes a reserve present. Only the reserve makes itself absent,
//         and only if more are present than are needed. It rests only while it is absent. So either
//         it sees that it is needed, or whoever needs it sees that it rests.
// Edge reserves: rest -> enter. Carries the wake-up word that the reserve prepared.
// Edge reserves: rest <-> quiet. Rest, then see who awaits (ClusterClosing); await, then see who
// rests.
// Edge reserves: enter, leave <-> room. Between groups; Reserves says why.
// Progress  lock-free.   Cost  one read-modify-write each.
// Proof   stress/model/models/cluster_blocking.cpp, docs/adr/0016
class ReserveGroup {
 public:
  static constexpr unsigned most = 17;

  /// At the beginning all reserves rest.
  explicit ReserveGroup(unsigned count) noexcept
      : all_((Word{1} << count) - 1), word_(all_ << resting_shift) {}

  // Of what is called when somebody blocks or goes on, these return the reserve that has to be
  // woken, if any.

  /// Called when an agent begins to block: adds a place.
  [[nodiscard]] std::optional<unsigned> enter() noexcept {
    return change([](Word old) { return old + one_place; });
  }
  /// Called when a reserve begins to block.
  [[nodiscard]] std::optional<unsigned> go_away(unsigned rank) noexcept {
    return change([rank](Word old) { return old | away_bit(rank); });
  }
  /// Called when the reserve goes on.
  [[nodiscard]] std::optional<unsigned> come_back(unsigned rank) noexcept {
    return change([rank](Word old) { return old & ~away_bit(rank); });
  }
  /// Calls a reserve up where one is missing because its thread could not be made.
  [[nodiscard]] std::optional<unsigned> ask_again() noexcept {
    const Word word = word_.load(sync::relaxed);  // relaxed: only a hint; change() looks again.
    if (active(word) >= places(word)) return std::nullopt;
    return change([](Word old) { return old; });
  }

  /// As enter(), but only if a reserve is left for one more place. Returns false if none is.
  [[nodiscard]] bool try_enter(std::optional<unsigned>& resting) noexcept {
    Word old = word_.load(sync::edge("reserves:room", sync::seq_cst));
    while (places(old) < able(old)) {
      Word now = old + one_place;
      resting = fill(now);
      if (word_.compare_exchange_weak(old, now, sync::edge("reserves:enter", sync::seq_cst),
                                      sync::edge("reserves:room", sync::seq_cst))) {
        return true;
      }
    }
    return false;
  }
  /// Called when an agent goes on. Returns false if there is no place here.
  [[nodiscard]] bool try_leave() noexcept {
    return leave_if([](Word old) { return places(old) > 0; });
  }
  /// The same for a place for which no reserve is left.
  [[nodiscard]] bool try_leave_without_reserve() noexcept {
    return leave_if([this](Word old) { return places(old) > able(old); });
  }
  /// Whether there are more places than reserves that could take them.
  [[nodiscard]] bool lacks_reserves() const noexcept {
    const Word word = word_.load(sync::edge("reserves:room", sync::seq_cst));
    return places(word) > able(word);
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
  /// Called for a reserve that was to be woken, but that cannot come.
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
  static constexpr unsigned away_shift = 2 * most;
  static constexpr unsigned places_shift = 3 * most;
  static constexpr Word one_place = Word{1} << places_shift;
  static_assert(~Word{0} >> places_shift > Word{2} * IdleAgents::most_agents,
                "all agents may be blocked, and as many counts be on their way to another group");

  static Word present_bit(unsigned rank) noexcept { return Word{1} << rank; }
  static Word resting_bit(unsigned rank) noexcept { return present_bit(rank) << resting_shift; }
  static Word away_bit(unsigned rank) noexcept { return present_bit(rank) << away_shift; }
  static unsigned places(Word word) noexcept { return static_cast<unsigned>(word >> places_shift); }
  /// The reserves that are not away.
  [[nodiscard]] Word able_bits(Word word) const noexcept { return all_ & ~(word >> away_shift); }
  [[nodiscard]] unsigned able(Word word) const noexcept {
    return static_cast<unsigned>(std::popcount(able_bits(word)));
  }
  /// How many are present, and not away.
  [[nodiscard]] unsigned active(Word word) const noexcept {
    return static_cast<unsigned>(std::popcount(word & able_bits(word)));
  }
  [[nodiscard]] bool has_surplus(Word word) const noexcept { return active(word) > places(word); }

  template <class Change>
  [[nodiscard]] std::optional<unsigned> change(Change&& changed) noexcept {
    Word old = word_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    for (;;) {
      Word now = changed(old);
      const auto resting = fill(now);
      if (word_.compare_exchange_weak(old, now, sync::edge("reserves:enter", sync::seq_cst),
                                      sync::relaxed)) {  // relaxed: a failure retries.
        return resting;
      }
    }
  }
  template <class May>
  [[nodiscard]] bool leave_if(May&& may_leave) noexcept {
    Word old = word_.load(sync::edge("reserves:room", sync::seq_cst));
    while (may_leave(old)) {
      if (word_.compare_exchange_weak(old, old - one_place,
                                      sync::edge("reserves:leave", sync::seq_cst),
                                      sync::edge("reserves:room", sync::seq_cst))) {
        return true;
      }
    }
    return false;
  }
  /// Makes one more reserve present, if one is missing and one is absent. Returns it if it rested.
  std::optional<unsigned> fill(Word& word) const noexcept {
    const Word absent = able_bits(word) & ~word;
    if (active(word) >= places(word) || absent == 0) return std::nullopt;
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
