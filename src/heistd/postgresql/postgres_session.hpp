// PostgresSession: calls to a PostgreSQL server, over one connection after the other.
#pragma once

#include <heistd/backoff.hpp>
#include <heistd/postgresql/postgres_connection.hpp>
#include <heistd/postgresql/postgres_queue.hpp>
#include <map>

namespace heistd {

struct PostgresLimits {
  using Duration = std::chrono::milliseconds;

  Duration connect_time = std::chrono::seconds(5);  ///< names are resolved within that, too
  /// A batch without an answer ends with its connection. The server cancels a statement that takes
  /// more than four fifths of that.
  Duration batch_time = std::chrono::seconds(10);
  Duration wait_time = std::chrono::seconds(10);        ///< of a call, until it is sent
  std::size_t max_waiting = 10'000;                     ///< calls
  std::size_t max_batch = 1000;                         ///< calls
  std::size_t max_batch_bytes = std::size_t{8} << 20U;  ///< of values, unless a call has more
  // Between attempts to connect, as of Backoff.
  Duration first_pause{100};
  Duration longest_pause = std::chrono::seconds(5);
};

/// Answers calls by a server, to which it keeps a connection; a lost one is made anew.
///
/// While one batch of calls is under way, others are asked for; they make the next one. So nobody
/// waits for company, and many who ask at once wait once. A batch is one transaction, and its
/// calls are answered when the server has committed it. Calls take effect in the order in which
/// they were asked for.
///
/// If the server refuses a call, its batch is run again in parts, so that this call fails alone. If
/// another transaction was in its way (SQLSTATE 40001 and 40P01), the batch is run again as it is,
/// a few times. When a connection is lost, what it was asked and has not answered ends with
/// `outcome_unknown`, as it may have taken effect or not; what was not sent waits for the next one.
///
/// Thread: the executor's, one at a time, on which all is called.   Blocks: never.
/// Errors: std::bad_alloc from the calls themselves; nothing was asked for then.
/// Memory: what waits, twice what is sent at once, and the answers of a batch.
/// Lifetime: what is called must not destroy it. Its end answers all calls: `outcome_unknown` for
///           what was sent, `no_connection` for the rest.
class PostgresSession {
 public:
  /// None of these may throw.
  struct Events {
    /// There is a connection; what is asked for by ask_first() now comes first.
    std::function<void()> on_connected = [] {};
    /// It is lost, or could not be made. The message says why, without secrets.
    std::function<void(const PostgresError&)> on_lost = [](const PostgresError& /*error*/) {};
    std::function<void(const PostgresNotification&)> on_notification =
        [](const PostgresNotification& /*told*/) {};
    /// The server has refused `opening`; the connection is given up after this.
    std::function<void(const PostgresError&)> on_opening_refused =
        [](const PostgresError& /*error*/) {};
  };
  /// Gets the answer; must not throw.
  using Done = PostgresAsked::Done;

  /// Begins to connect. Each batch, but for those of ask_first(), begins with `opening`. While that
  /// is refused, calls wait for another connection.
  PostgresSession(boost::asio::any_io_executor executor, PostgresTarget target,
                  PostgresLimits limits, Events events,
                  std::optional<PostgresCall> opening = std::nullopt);
  ~PostgresSession();
  PostgresSession(const PostgresSession&) = delete;
  PostgresSession& operator=(const PostgresSession&) = delete;

  /// Runs a call. If too many wait already, it is refused before this returns.
  /// Errors: std::logic_error for a statement that was called with values of other types before.
  void ask(PostgresCall call, Done done);
  /// The same in a transaction of its own.
  void ask_alone(PostgresCall call, Done done);
  /// Runs a call of which the outcome is unknown once more, before all others that wait: to be
  /// called by the answer that says so.
  void ask_again(PostgresCall call, Done done);
  /// Runs a call on this connection, before all others that wait: to be called by `on_connected`,
  /// and by the answers of such calls. Those that are asked for together are one transaction. If
  /// one of them is refused, the connection is given up, and another made after a pause. With the
  /// connection they end, and are not sent again.
  void ask_first(PostgresCall call, Done done);

  /// Gives the connection up, if there is one, and makes another after a pause.
  void drop(std::string why);

  /// How many calls wait to be sent.
  [[nodiscard]] std::size_t waiting() const noexcept { return queue_.size(); }

 private:
  void connect();
  void connect_after_pause();
  void on_connected();
  void on_lost(PostgresError error);
  void on_outcome(PostgresOutcome outcome);
  void retry_or_refuse(PostgresTurn turn, PostgresOutcome outcome);
  [[nodiscard]] bool is_opened() const noexcept { return opening_ && !is_first_; }
  [[nodiscard]] std::optional<PostgresAsked> to_ask(PostgresCall call, Done done);
  void check_types(const PostgresCall& call);
  void go_on_soon();
  void go_on();
  void run(PostgresTurn turn);
  void end_overdue();
  static void answer_all(const PostgresAsks& asks, std::vector<PostgresRows> rows) noexcept;
  static void answer_all(const PostgresAsks& asks, const PostgresError& error) noexcept;
  template <class Function>
  auto while_alive(Function function);

  const boost::asio::any_io_executor executor_;
  const PostgresTarget target_;
  const PostgresLimits limits_;
  const Events events_;
  const std::optional<PostgresCall> opening_;
  std::map<std::string, std::vector<Oid>, std::less<>> types_;  ///< of each statement's values
  Backoff backoff_;
  unsigned failures_ = 0;  ///< since a connection was of use
  boost::asio::steady_timer pause_;
  boost::asio::steady_timer overdue_;
  bool awaits_overdue_ = false;
  bool goes_on_soon_ = false;
  std::shared_ptr<PostgresConnection> connection_;
  bool is_connected_ = false;
  bool has_ended_ = false;               ///< the answers of its end may ask for more
  PostgresTurn first_;                   ///< what ask_first() was given
  bool is_first_ = false;                ///< the turn under way is such a one
  std::optional<PostgresTurn> running_;  ///< the turn under way
  PostgresTurn again_;                   ///< what ask_again() was given
  PostgresQueue queue_;
  std::string last_loss_;  ///< why there is no connection
  const std::shared_ptr<const bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace heistd
