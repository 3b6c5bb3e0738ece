// ChannelSide: the senders of a channel, or its receivers, who take its cells in turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <heist/detail/export.hpp>
#include <heist/detail/sync.hpp>
#include <heist/detail/wait_core.hpp>
#include <heist/version.hpp>
#include <memory>

namespace HEIST_NAMESPACE::detail {

class ChannelCore;

/// What came of an attempt to take a cell, and the turn of the cell.
class ChannelTurn {
 public:
  enum class Outcome : std::uint8_t { taken, must_wait, ended };

  [[nodiscard]] static ChannelTurn of(std::uint32_t turn) noexcept {
    return ChannelTurn(Outcome::taken, turn);
  }
  [[nodiscard]] static ChannelTurn none(Outcome why) noexcept { return ChannelTurn(why, 0); }

  [[nodiscard]] bool is_taken() const noexcept { return outcome_ == Outcome::taken; }
  [[nodiscard]] bool must_wait() const noexcept { return outcome_ == Outcome::must_wait; }
  /// Precondition: is_taken().
  [[nodiscard]] std::uint32_t number() const noexcept { return turn_; }

 private:
  ChannelTurn(Outcome outcome, std::uint32_t turn) noexcept : outcome_(outcome), turn_(turn) {}

  Outcome outcome_;
  std::uint32_t turn_;
};

/// The cells of a channel are used in turn, round and round. Senders take free cells and make them
/// ready for the receivers; these take filled cells and make them ready for the senders. A side has
/// the turns that are ready for it, and those who wait for one.
///
/// Roles   taker: any thread, or a coroutine that goes on after its wait.  maker: who has taken a
///         cell on the other side, and is done with it.  closer: any thread.  Besides, WaitCore's.
/// States  word_: the next turn to be made ready and the next one to be taken, both modulo 2^20;
///         how many wait, or have been granted a turn and not taken it yet; whether it is closed.
///         The difference of the turns less those who wait is the balance.
///         told_: for each cell, the turn that its maker has left to others to make ready, or none.
///         owed_: how many turns are there for the line and not given to anyone in it yet.
/// I1      Turns are made ready in their order, each once: only when all before it are. A maker
///         whose turn is not the next one tells it and goes; who makes the one before ready, makes
///         it ready as well. So a cell is written and emptied before its turn is ready.
/// I2      Turns are taken in their order. A grant is the right to take one, and not a certain one:
///         whoever goes on first takes the first one. A right that is not used is withdrawn, and no
///         value has moved. There are at least as many ready turns as grants.
/// I3      As I1 and I2 of SemaphoreCore: a waiter joins before it counts itself, and who takes one
///         out that was aborted raises the balance.
/// I4      A maker leaves in told_ its own turn, or none, before the turn is ready. So nobody finds
///         there what is as old as all the numbers of turns. Whoever claims what was told makes
///         that turn ready, and nobody else does.
/// I5      The senders' side has ended when it is closed. The receivers' side is closed later, and
///         has ended when the last turn that the senders took is taken there as well. An ended side
///         gives nothing more. All who wait are granted, and find that it has ended.
/// Edge channel: advance -> take. What was done with a cell is over before it is taken again.
/// Edge channel: tell -> advance. Who makes a turn ready for another maker hands on what that did.
/// Edge channel: tell <-> advance. A maker that finds its turn not to be the next one has told it
///   before; who makes it the next one looks afterwards whether it was told.
/// Edge channel: close -> end. Who sees the end knows which turn is the last one, and sees what was
///   done before the close.
/// Edge channel: owe -> give. Who has been granted a turn finds it ready.
/// Progress  lock-free: no call waits for another thread. A maker that is stopped between taking
///           and making ready, where it moves one value, holds back the turns after its own: their
///           makers go on, and takers find nothing.
/// Proof   stress/model/models/channels.cpp, stress/channel_stress.cpp
class alignas(64) HEIST_EXPORT ChannelSide final : public WaitCore {
 public:
  enum class Of : std::uint32_t { senders, receivers };

  static constexpr std::size_t most_cells = std::size_t{1} << 19;
  /// More cannot wait: who would is refused.
  static constexpr std::uint64_t most_waiting = std::uint64_t{1} << 22;

  /// A side of `cells`, a power of two, of which `ready` are ready.   Errors: std::bad_alloc.
  ChannelSide(ChannelCore& channel, Of side, std::size_t cells, std::uint32_t ready);
  ~ChannelSide() = default;

  [[nodiscard]] ChannelCore& channel() const noexcept { return channel_; }

  /// Takes a turn, unless somebody waits for it.
  [[nodiscard]] ChannelTurn try_take() noexcept {
    std::uint64_t word = word_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    while (true) {
      if (is_closed(word) && has_ended(word)) return ChannelTurn::none(ChannelTurn::Outcome::ended);
      if (balance_of(word) <= 0) return ChannelTurn::none(ChannelTurn::Outcome::must_wait);
      if (take(word, one_taken)) return taken(word);
    }
  }
  /// For whoever has been granted a turn, instead of withdraw(). It need not wait.
  [[nodiscard]] ChannelTurn take_granted() noexcept;
  void withdraw() noexcept;
  /// For the last one who knows the channel: takes a turn, whatever was granted.
  [[nodiscard]] ChannelTurn take_left() noexcept;

  /// Makes a turn ready that has been taken on the other side.
  void make_ready(std::uint32_t number) noexcept {
    const std::uint32_t turn = number & turn_mask;
    // relaxed: it is compared; only this thread makes its own turn ready once it is the next one.
    std::uint64_t word = word_.load(sync::relaxed);
    if (ready_of(word) == turn) {
      told_[turn & cell_mask_].store(no_turn, sync::relaxed);  // relaxed: see I4; nobody reads it.
    } else if (!tell(turn, word)) {
      return;
    }
    make_ready_from(turn, word);
  }

  /// Called once. Gives the turn that nobody will take.
  [[nodiscard]] bool close(std::uint32_t& first_refused) noexcept;
  /// Nothing from this turn on will be ready.
  void close_at(std::uint32_t first_missing) noexcept;
  [[nodiscard]] bool is_closed() const noexcept {
    // relaxed: nothing that others did is read on the strength of it.
    return is_closed(word_.load(sync::relaxed));
  }
  [[nodiscard]] bool is_ended() const noexcept {
    std::uint64_t word = 0;
    return has_ended(word);
  }

  /// Errors: std::length_error when too many wait.
  void check_room_to_wait() const;
  /// The waiter, and a share of it, go to the line.
  void wait(Waiter& waiter) noexcept;

 private:
  static constexpr std::uint32_t turn_bits = 20;
  static constexpr std::uint32_t turn_mask = (1U << turn_bits) - 1;
  static constexpr std::uint32_t no_turn = ~0U;
  static constexpr std::uint32_t ready_shift = 24;
  static constexpr std::uint32_t taken_shift = ready_shift + turn_bits;
  static constexpr std::uint64_t one_taken = std::uint64_t{1} << taken_shift;
  static constexpr std::uint64_t one_waiting = 1;
  static constexpr std::uint64_t closed_bit = std::uint64_t{1} << (ready_shift - 1);

  [[nodiscard]] static std::uint32_t taken_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> taken_shift);
  }
  [[nodiscard]] static std::uint32_t ready_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> ready_shift) & turn_mask;
  }
  [[nodiscard]] static bool is_closed(std::uint64_t word) noexcept {
    return (word & closed_bit) != 0;
  }
  [[nodiscard]] static std::uint32_t count_ready(std::uint64_t word) noexcept {
    return (ready_of(word) - taken_of(word)) & turn_mask;
  }
  [[nodiscard]] static std::int64_t balance_of(std::uint64_t word) noexcept {
    return static_cast<std::int64_t>(count_ready(word)) -
           static_cast<std::int64_t>(word & (closed_bit - 1));
  }
  [[nodiscard]] static std::uint64_t with_next_ready(std::uint64_t word) noexcept {
    constexpr std::uint64_t ready_field = std::uint64_t{turn_mask} << ready_shift;
    return (word & ~ready_field) | (std::uint64_t{(ready_of(word) + 1) & turn_mask} << ready_shift);
  }

  /// Whether it has ended by now, with the word of which that is said.
  [[nodiscard]] bool has_ended(std::uint64_t& word) const noexcept {
    word = word_.load(sync::edge("channel:end", sync::acquire));
    if (!is_closed(word) || side_ == Of::senders) return is_closed(word);
    return count_ready(word) == 0 && ready_of(word) == end_;
  }
  /// One step of taking a turn; `change` is what becomes of the word.
  [[nodiscard]] bool take(std::uint64_t& word, std::uint64_t change) noexcept {
    return word_.compare_exchange_weak(word, word + change,
                                       sync::edge("channel:take", sync::acquire),
                                       sync::relaxed);  // relaxed: a failure only retries.
  }
  [[nodiscard]] ChannelTurn taken(std::uint64_t word) noexcept {
    if (is_closed(word)) serve();  // that may have been the last one
    return ChannelTurn::of(taken_of(word));
  }
  /// Leaves the turn to others, or takes it back: true when the caller is to make it ready.
  [[nodiscard]] bool tell(std::uint32_t turn, std::uint64_t& word) noexcept;
  /// Whether the turn was told; then the caller is the only one to make it ready.
  [[nodiscard]] bool claim_told(std::uint32_t turn) noexcept {
    sync::atomic<std::uint32_t>& told = told_[turn & cell_mask_];
    if (told.load(sync::edge("channel:advance", sync::seq_cst)) != turn) return false;
    return told.compare_exchange_strong(turn, no_turn, sync::edge("channel:advance", sync::seq_cst),
                                        sync::relaxed);  // relaxed: another thread has claimed it.
  }
  /// The caller is the only one to make this turn ready, and perhaps those that follow.
  void make_ready_from(std::uint32_t turn, std::uint64_t word) noexcept {
    bool is_owed = false;
    do {
      if (!advance(turn, word)) break;
      if (balance_of(word) < 0) {
        owe();
        is_owed = true;
      }
      word = with_next_ready(word);
      turn = ready_of(word);
    } while (claim_told(turn));
    if (is_owed) [[unlikely]]
      serve();
  }
  /// False when it was left to others: a thread that was stopped for as long as all the numbers of
  /// turns may have claimed a later use of the number.
  [[nodiscard]] bool advance(std::uint32_t turn, std::uint64_t& word) noexcept {
    do {
      if (ready_of(word) != turn && !tell(turn, word)) return false;
    } while (!word_.compare_exchange_weak(word, with_next_ready(word),
                                          sync::edge("channel:advance", sync::seq_cst),
                                          sync::relaxed));  // relaxed: it only retries.
    return true;
  }
  void owe() noexcept;
  void serve_some(WaiterList& granted, std::uint32_t left) noexcept override;
  void count_left() noexcept;

  ChannelCore& channel_;
  const Of side_;
  const std::uint32_t cell_mask_;
  const std::unique_ptr<sync::atomic<std::uint32_t>[]> told_;
  std::uint32_t end_ = no_turn;  ///< of receivers: the first turn that will not be ready
  sync::atomic<std::uint64_t> word_;
  sync::atomic<std::int64_t> owed_{0};
};

}  // namespace HEIST_NAMESPACE::detail
