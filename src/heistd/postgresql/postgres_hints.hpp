// PostgresHints: how servers tell each other that there is something to claim.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <heistd/postgresql/postgres_session.hpp>
#include <memory>

namespace heistd {

/// Tells the other servers of a queue that there may be jobs for them: at once, and then no more
/// often than ten times a second. A hint may be lost, so nobody relies on it.
///
/// Thread: the session's.   Lifetime: it ends before its session.
class PostgresHints {
 public:
  explicit PostgresHints(PostgresSession& session, const boost::asio::any_io_executor& executor)
      : session_(session), pause_(executor) {}

  /// To be called by the session's `on_connected`.   Errors: std::bad_alloc.
  void listen();
  /// Errors: std::bad_alloc.
  void tell();

 private:
  PostgresSession& session_;
  boost::asio::steady_timer pause_;
  bool is_pausing_ = false;
  bool is_due_ = false;  ///< after the pause
  const std::shared_ptr<const bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace heistd
