// SharesAndDeaths: the references to the owner of a registry, and the deaths until that is pruned,
// in one word.
#pragma once

#include <cstdint>
#include <heist/detail/sync.hpp>

namespace HEIST_NAMESPACE::detail {

/// Whoever ends a registration with a signal mostly drops a reference to the signal, too. In one
/// word both are one read-modify-write.
///
/// The references are as those of RefCount, which describes their edge (ref). The other half of the
/// word, the deaths until a pass of the registry is due, only decides when to prune, and never
/// what. So its operations are relaxed.
class SharesAndDeaths {
 public:
  /// There is one reference.
  explicit constexpr SharesAndDeaths(std::int32_t deaths_until_due) noexcept
      : word_(word_of(deaths_until_due, 1)) {}

  void add(std::uint32_t n = 1) noexcept {
    word_.fetch_add(n, sync::relaxed);  // relaxed: as RefCount::add().
  }
  [[nodiscard]] bool drop(std::uint32_t n = 1) noexcept {
    return shares_in(word_.fetch_sub(n, sync::edge("ref:drop", sync::acq_rel))) == n;
  }
  /// As drop(), but the last holder needs no read-modify-write: see RefCount.
  [[nodiscard]] bool drop_or_be_last() noexcept { return is_last() || drop(); }
  /// Adds a reference unless none is left: see RefCount.
  [[nodiscard]] bool try_add() noexcept {
    Word seen = word_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    // relaxed: as RefCount::try_add().
    while (shares_in(seen) != 0 &&
           !word_.compare_exchange_weak(seen, seen + 1, sync::relaxed, sync::relaxed)) {
    }
    return shares_in(seen) != 0;
  }
  [[nodiscard]] bool is_zero() const noexcept { return shares() == 0; }
  [[nodiscard]] bool is_last() const noexcept { return shares() == 1; }

  [[nodiscard]] std::int32_t until_due() const noexcept {
    return deaths_in(word_.load(sync::relaxed));  // relaxed: see above.
  }
  /// Returns how many deaths are left until a pass is due.
  std::int32_t count_death() noexcept {
    return deaths_in(word_.fetch_sub(one_death, sync::relaxed)) - 1;  // relaxed: see above.
  }
  void allow_deaths(std::int32_t more) noexcept {
    word_.fetch_add(word_of(more, 0), sync::relaxed);  // relaxed: see above.
  }

  /// What came of an attempt to leave.
  enum class Left : std::uint8_t {
    others,  ///< the death is counted, the reference is gone
    last,    ///< and it was the last one
    not_yet  ///< nothing has changed
  };
  /// Counts a death and drops a reference. It does neither if a pass is due after this death, which
  /// `is_due` tells from the deaths that are left then: for a pass the caller needs its reference.
  template <class IsDue>
  [[nodiscard]] Left try_leave(IsDue&& is_due) noexcept {
    Word seen = word_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    Word next = 0;
    do {
      next = seen - one_death - 1;
      if (is_due(deaths_in(next))) return Left::not_yet;
    } while (!word_.compare_exchange_weak(seen, next, sync::edge("ref:drop", sync::acq_rel),
                                          sync::relaxed));  // relaxed: a failure only retries.
    return shares_in(next) == 0 ? Left::last : Left::others;
  }

 private:
  using Word = std::uint64_t;
  static constexpr Word one_death = Word{1} << 32;

  static constexpr Word word_of(std::int32_t deaths, std::uint32_t shares) noexcept {
    return Word{static_cast<std::uint32_t>(deaths)} << 32 | shares;
  }
  static constexpr std::uint32_t shares_in(Word word) noexcept {
    return static_cast<std::uint32_t>(word);
  }
  static constexpr std::int32_t deaths_in(Word word) noexcept {
    return static_cast<std::int32_t>(word >> 32);
  }
  [[nodiscard]] std::uint32_t shares() const noexcept {
    return shares_in(word_.load(sync::edge("ref:last", sync::acquire)));
  }

  sync::atomic<Word> word_;
};

}  // namespace HEIST_NAMESPACE::detail
