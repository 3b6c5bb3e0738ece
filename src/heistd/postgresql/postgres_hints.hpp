// PostgresHints: how servers tell each other that there is something to claim.
#pragma once

#include <heistd/postgresql/postgres_session.hpp>
#include <heistd/postgresql/sparse_calls.hpp>

namespace heistd {

/// Tells the other servers of a queue that there may be jobs for them: at once, and then no more
/// often than ten times a second. It hears what they tell, which is heard as rarely as long as
/// claims bring nothing: of many full servers that tell each other, each would claim for each. A
/// hint may be lost, so nobody relies on it.
///
/// Thread: the session's.   Lifetime: it ends before its session.
class PostgresHints {
 public:
  /// `on_hint` is called for what others tell.
  PostgresHints(
      PostgresSession& session, const boost::asio::any_io_executor& executor,
      std::function<void()> on_hint = [] {});

  /// To be called by the session's `on_connected`.   Errors: std::bad_alloc.
  void listen();
  void tell() noexcept { told_.ask(); }
  /// The session has got this. What it has told itself is for others.
  void hear(const PostgresNotification& hint) noexcept {
    if (!hint.is_own) heard_.ask();
  }
  /// A claim has brought something, so that another one may, too.
  void note_success() { heard_.end_pause(); }

 private:
  PostgresSession& session_;
  SparseCalls told_;
  SparseCalls heard_;
};

}  // namespace heistd
