// PostgresQueue: calls that wait to be sent, in the batches in which they will be.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <heistd/postgresql/postgres_call.hpp>
#include <optional>
#include <vector>

namespace heistd {

/// A call with who waits for its answer.
struct PostgresAsked {
  using Clock = std::chrono::steady_clock;
  using Done = std::function<void(PostgresResult)>;

  PostgresCall call;
  Done done;
  Clock::time_point deadline = Clock::time_point::max();  ///< by which it is to be sent
};
using PostgresAsks = std::vector<PostgresAsked>;

/// Calls that are, or will be, one transaction.
struct PostgresTurn {
  PostgresAsks asks = {};
  std::size_t bytes = 0;  ///< of their values
  bool may_grow = true;
  unsigned conflicts = 0;  ///< that it has had with other transactions
};

/// Turns in the order in which they were asked for, which is also that of their deadlines.
///
/// Thread: one at a time.   Errors: std::bad_alloc; nothing was added then.
class PostgresQueue {
 public:
  /// A turn gets no more calls than this, and, if it has several, no more bytes.
  PostgresQueue(std::size_t most_calls, std::size_t most_bytes)
      : most_calls_(most_calls), most_bytes_(most_bytes) {}

  /// How many calls wait.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// When the first of them is over; there must be one.
  [[nodiscard]] PostgresAsked::Clock::time_point deadline() const {
    return turns_.front().asks.front().deadline;
  }

  void add(PostgresAsked asked);
  /// It shares its turn with no others.
  void add_alone(PostgresAsked asked);
  /// The next turn; none has no calls.
  [[nodiscard]] std::optional<PostgresTurn> take();
  /// It is the next one again, as it is.
  void put_back(PostgresTurn turn);
  /// It failed at this call, or, past the last, as a whole: its parts are the next ones, that call
  /// alone. If all of them fail, too, that costs a logarithm of times what the turn has cost.
  void put_back_in_parts(PostgresTurn turn, std::size_t failed);

  [[nodiscard]] PostgresAsks take_overdue(PostgresAsked::Clock::time_point now);
  [[nodiscard]] PostgresAsks take_all() {
    return take_overdue(PostgresAsked::Clock::time_point::max());
  }

 private:
  void begin_turn(PostgresAsked asked);
  [[nodiscard]] bool fits_last_turn(std::size_t bytes) const noexcept;

  const std::size_t most_calls_;
  const std::size_t most_bytes_;
  std::size_t size_ = 0;
  std::deque<PostgresTurn> turns_;
};

}  // namespace heistd
