#include <cassert>
#include <heist/detail/channel_side.hpp>
#include <stdexcept>

namespace HEIST_NAMESPACE::detail {

ChannelSide::ChannelSide(ChannelCore& channel, Of side, std::size_t cells, std::uint32_t ready)
    : channel_(channel),
      side_(side),
      cell_mask_(static_cast<std::uint32_t>(cells - 1)),
      told_(std::make_unique<sync::atomic<std::uint32_t>[]>(cells)),
      word_(std::uint64_t{ready} << ready_shift) {
  for (std::size_t cell = 0; cell < cells; ++cell) {
    told_[cell].store(no_turn, sync::relaxed);  // relaxed: nobody knows it yet.
  }
}

ChannelTurn ChannelSide::take_granted() noexcept {
  std::uint64_t word = word_.load(sync::relaxed);  // relaxed: the CAS checks it again.
  while (true) {
    const bool ended = is_closed(word) && has_ended(word);
    assert((ended || count_ready(word) > 0) && "a grant without a turn");
    if (!take(word, (ended ? 0 : one_taken) - one_waiting)) continue;
    return ended ? ChannelTurn::none(ChannelTurn::Outcome::ended) : taken(word);
  }
}

void ChannelSide::withdraw() noexcept {
  // relaxed: the cell is as its maker has left it.
  if (balance_of(word_.fetch_sub(one_waiting, sync::relaxed)) >= 0) return;
  owe();
  serve();
}

ChannelTurn ChannelSide::take_left() noexcept {
  const std::uint64_t word = word_.load(sync::relaxed);  // relaxed: all shares were dropped.
  if (count_ready(word) == 0) return ChannelTurn::none(ChannelTurn::Outcome::ended);
  word_.store(word + one_taken, sync::relaxed);  // relaxed: nobody else has a share.
  return ChannelTurn::of(taken_of(word));
}

bool ChannelSide::tell(std::uint32_t turn, std::uint64_t& word) noexcept {
  told_[turn & cell_mask_].store(turn, sync::edge("channel:tell", sync::seq_cst));
  word = word_.load(sync::edge("channel:tell", sync::seq_cst));
  return ready_of(word) == turn && claim_told(turn);
}

bool ChannelSide::close(std::uint32_t& first_refused) noexcept {
  const std::uint64_t word = word_.fetch_or(closed_bit, sync::edge("channel:close", sync::release));
  first_refused = taken_of(word);
  if (is_closed(word)) return false;
  serve();
  return true;
}

void ChannelSide::close_at(std::uint32_t first_missing) noexcept {
  end_ = first_missing;
  word_.fetch_or(closed_bit, sync::edge("channel:close", sync::release));
  serve();
}

void ChannelSide::check_room_to_wait() const {
  // relaxed: the limit leaves room for all threads that come at once.
  if ((word_.load(sync::relaxed) & (closed_bit - 1)) >= most_waiting) {
    throw std::length_error("Channel: more than 2^22 coroutines wait");
  }
}

void ChannelSide::wait(Waiter& waiter) noexcept {
  put_in_line(waiter);
  // relaxed: who goes on takes a turn, and the request below orders the waiter.
  const std::uint64_t word = word_.fetch_add(one_waiting, sync::relaxed);
  // A ready turn goes through the line, too, so that the most urgent waiter gets it.
  if (balance_of(word) > 0) owe();
  serve();
}

void ChannelSide::owe() noexcept { owed_.fetch_add(1, sync::edge("channel:owe", sync::release)); }

void ChannelSide::serve_some(WaiterList& granted, std::uint32_t left) noexcept {
  for (; left != 0; --left) count_left();
  const bool ended = is_ended();
  while (ended || owed_.load(sync::edge("channel:give", sync::acquire)) > 0) {
    Waiter* const waiter = line().take_best();
    if (waiter == nullptr) return;
    if (!ended) owed_.fetch_sub(1, sync::relaxed);  // relaxed: the server's own look at it.
    granted.add(*waiter);
  }
}

/// See I3.
void ChannelSide::count_left() noexcept {
  // relaxed: the cell is as its maker has left it.
  const std::uint64_t word = word_.fetch_sub(one_waiting, sync::relaxed);
  // relaxed: the server's own look at it.
  if (balance_of(word) >= 0) owed_.fetch_sub(1, sync::relaxed);
}

}  // namespace HEIST_NAMESPACE::detail
