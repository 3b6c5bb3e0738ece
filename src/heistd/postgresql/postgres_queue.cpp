#include <algorithm>
#include <heistd/postgresql/postgres_queue.hpp>
#include <iterator>
#include <utility>

namespace heistd {

void PostgresQueue::add(PostgresAsked asked) {
  const auto bytes = asked.call.parameters.bytes();
  if (!fits_last_turn(bytes)) return begin_turn(std::move(asked));
  turns_.back().asks.push_back(std::move(asked));
  turns_.back().bytes += bytes;
  ++size_;
}

void PostgresQueue::add_alone(PostgresAsked asked) {
  begin_turn(std::move(asked));
  turns_.back().may_grow = false;
}

void PostgresQueue::begin_turn(PostgresAsked asked) {
  PostgresTurn turn;
  turn.bytes = asked.call.parameters.bytes();
  turn.asks.push_back(std::move(asked));
  turns_.push_back(std::move(turn));
  ++size_;
}

bool PostgresQueue::fits_last_turn(std::size_t bytes) const noexcept {
  if (turns_.empty()) return false;
  const auto& last = turns_.back();
  return last.may_grow && last.asks.size() < most_calls_ && last.bytes + bytes <= most_bytes_;
}

std::optional<PostgresTurn> PostgresQueue::take() {
  if (turns_.empty()) return std::nullopt;
  auto turn = std::move(turns_.front());
  turns_.pop_front();
  size_ -= turn.asks.size();
  return turn;
}

void PostgresQueue::put_back(PostgresTurn turn) {
  turn.may_grow = false;
  const auto calls = turn.asks.size();
  turns_.push_front(std::move(turn));
  size_ += calls;
}

/// From the last one on, as each becomes the first.
void PostgresQueue::put_back_in_parts(PostgresTurn turn, std::size_t failed) {
  auto& asks = turn.asks;
  const bool is_of_call = failed < asks.size();
  const auto cuts = is_of_call
                        ? std::vector{(failed + 1 + asks.size()) / 2, failed + 1, failed, 0UL}
                        : std::vector{asks.size() / 2, 0UL};
  for (const auto cut : cuts) {
    const auto begin = asks.begin() + static_cast<std::ptrdiff_t>(cut);
    PostgresTurn part;
    part.asks.assign(std::move_iterator(begin), std::move_iterator(asks.end()));
    asks.erase(begin, asks.end());
    if (!part.asks.empty()) put_back(std::move(part));
  }
}

PostgresAsks PostgresQueue::take_overdue(PostgresAsked::Clock::time_point now) {
  PostgresAsks overdue;
  while (!turns_.empty()) {
    auto& asks = turns_.front().asks;
    const auto end =
        std::ranges::find_if(asks, [now](const auto& asked) { return asked.deadline > now; });
    overdue.insert(overdue.end(), std::move_iterator(asks.begin()), std::move_iterator(end));
    asks.erase(asks.begin(), end);
    if (!asks.empty()) break;
    turns_.pop_front();
  }
  size_ -= overdue.size();
  return overdue;
}

}  // namespace heistd
