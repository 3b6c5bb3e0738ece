// PostgresConnection: one connection to PostgreSQL, from its first attempt to its loss.
#pragma once

#include <libpq-fe.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <heistd/postgresql/postgres_batch.hpp>
#include <heistd/postgresql/postgres_target.hpp>
#include <memory>
#include <optional>

namespace heistd {

/// Resolves names, connects, and runs batches in libpq's pipeline mode.
///
/// Thread: that of the executor, the one on which all its handlers run, and so is all that it
///         calls.   Blocks: never.   Lifetime: shared with a handler that runs.
class PostgresConnection : public std::enable_shared_from_this<PostgresConnection> {
 public:
  struct Events {
    std::function<void()> on_connected;
    /// The last thing that it calls.
    std::function<void(PostgresError)> on_lost;
    std::function<void(PostgresOutcome)> on_outcome;
    std::function<void(PostgresNotification)> on_notification;
  };

  PostgresConnection(const boost::asio::any_io_executor& executor, Events events)
      : descriptor_(executor), resolver_(executor), timer_(executor), events_(std::move(events)) {}
  ~PostgresConnection() { close(); }
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  using Duration = std::chrono::milliseconds;

  /// Connects within `limit`. The server cancels what takes longer than `statement_time`.
  void connect(const PostgresTarget& target, Duration limit, Duration statement_time);

  /// Runs calls as one transaction; they must stay where they are until the outcome, for which
  /// `limit` is left. One batch at a time, on a connection that is connected.
  void run(std::vector<const PostgresCall*> calls, Duration limit);

  /// Ends it as if it had been lost.
  void lose(PostgresError error);
  /// Calls nothing any more.
  void close() noexcept;

 private:
  using Wait = boost::asio::posix::stream_descriptor::wait_type;
  using Step = void (PostgresConnection::*)();
  struct Finish {
    void operator()(::PGconn* connection) const noexcept { ::PQfinish(connection); }
  };

  void resolve_next();
  void add_place(const PostgresTarget::Host& host, std::string address);
  void begin();
  void poll();
  void get_ready();
  void send();
  void on_writable();
  void await_input();
  void on_readable();
  void receive();
  void tell_notifications();
  void limit(Duration time, const char* what);
  void end_limit();
  void wait(Wait what, Step step);
  void take_step(Step step);
  void lose_by_libpq();

  boost::asio::posix::stream_descriptor descriptor_;  // libpq's, which closes it
  boost::asio::ip::tcp::resolver resolver_;
  boost::asio::steady_timer timer_;
  Events events_;
  const PostgresTarget* target_ = nullptr;
  Duration statement_time_{};
  std::vector<PostgresTarget::Place> places_;
  std::size_t resolved_ = 0;  ///< hosts
  std::string not_resolved_;  ///< those that could not be
  std::unique_ptr<::PGconn, Finish> connection_;
  PostgresStatements statements_;
  std::optional<PostgresBatch> batch_;
  std::uint64_t limits_ = 0;  ///< that there were
  bool awaits_output_ = false;
  bool is_closed_ = false;
};

}  // namespace heistd
