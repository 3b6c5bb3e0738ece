// PostgresBatch: calls that are one transaction, while a connection has them.
#pragma once

#include <libpq-fe.h>

#include <cstddef>
#include <heistd/postgresql/postgres_call.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace heistd {

/// What the server has said of calls, which have all taken effect, or, with an error, none.
struct PostgresOutcome {
  std::vector<PostgresRows> rows = {};  ///< of each call
  std::optional<PostgresError> error = {};
  std::size_t failed = 0;  ///< which call it is about; past the last: the commit
};

/// The names of the statements that a connection has.
using PostgresStatements = std::set<std::string, std::less<>>;

/// Gives libpq calls one after the other, and matches its results with them.
///
/// Thread: one at a time.   Blocks: never, on a connection that does not.
/// Errors: std::bad_alloc, which leaves the connection in no known state.
class PostgresBatch {
 public:
  /// The calls must stay where they are.
  PostgresBatch(::PGconn& connection, PostgresStatements& statements,
                std::vector<const PostgresCall*> calls)
      : connection_(connection), statements_(statements), calls_(std::move(calls)) {}

  enum class Sent : std::uint8_t { all, blocked, failed };
  /// Gives as much as the socket takes. `blocked`: to be called again when that can be written.
  [[nodiscard]] Sent send();

  enum class Received : std::uint8_t { some, all, failed };
  /// Takes the results that are there. All of them: the transaction has ended. In `failed`, as in
  /// that above, the connection is of no use any more.
  [[nodiscard]] Received receive();

  [[nodiscard]] PostgresOutcome take_outcome() noexcept { return std::move(outcome_); }
  /// What the server has said before it closed the connection, or libpq of why it is lost.
  [[nodiscard]] std::optional<PostgresError>& error() noexcept { return outcome_.error; }

 private:
  /// What a result is about.
  struct Expected {
    std::size_t call = 0;
    bool is_preparation = false;
  };

  [[nodiscard]] bool send(const PostgresCall& call);
  [[nodiscard]] bool prepare(const PostgresCall& call);
  [[nodiscard]] Sent flush();
  [[nodiscard]] bool take(::PGresult* result);
  void fail(const ::PGresult* result);

  ::PGconn& connection_;
  PostgresStatements& statements_;
  const std::vector<const PostgresCall*> calls_;
  std::size_t sent_ = 0;       ///< calls
  std::size_t unflushed_ = 0;  ///< bytes, about
  bool is_closed_ = false;     ///< the end of the transaction was sent
  bool has_ended_ = false;     ///< that was answered
  std::vector<Expected> expected_;
  std::size_t received_ = 0;  ///< of those expected
  bool has_result_ = false;   ///< of the next one that is expected
  PostgresOutcome outcome_;
};

}  // namespace heistd
