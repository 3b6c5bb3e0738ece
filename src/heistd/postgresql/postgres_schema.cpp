#include <libpq-fe.h>

#include <array>
#include <heistd/postgresql/postgres_schema.hpp>
#include <heistd/postgresql/postgres_target.hpp>
#include <heistd/postgresql/sql_files.hpp>
#include <memory>
#include <string_view>
#include <utility>

namespace heistd {
namespace {

struct EndConnection {
  void operator()(::PGconn* connection) const noexcept { ::PQfinish(connection); }
};
using Connection = std::unique_ptr<::PGconn, EndConnection>;

/// What the string says goes before the time, which libpq would not bound by itself.
Connection connect(const std::string& target) {
  constexpr std::array keys{"connect_timeout", "dbname", static_cast<const char*>(nullptr)};
  const std::array values{"10", target.c_str(), static_cast<const char*>(nullptr)};
  return Connection(::PQconnectdbParams(keys.data(), values.data(), 1));
}

/// What the server or libpq has said, in one line.
std::string text_of(const char* message) {
  std::string text(message);
  while (text.ends_with('\n')) text.pop_back();
  for (auto& letter : text) {
    if (letter == '\n') letter = ' ';
  }
  return text;
}

std::string remedy_for(std::string_view sqlstate) {
  constexpr std::string_view no_rights = "42501";
  constexpr std::string_view no_lock = "55P03";
  if (sqlstate == no_rights) {
    return "; name a user who may create schemas in this database (GRANT CREATE ON DATABASE), or "
           "have its owner run this";
  }
  if (sqlstate == no_lock) {
    return "; another transaction has used the schema for long and is still open "
           "(pg_stat_activity shows it): end it, and run this again";
  }
  return "";
}

/// One connection, on which one statement runs after the other.
class SchemaSession {
 public:
  explicit SchemaSession(const std::string& target) : connection_(connect(target)) {
    if (::PQstatus(connection_.get()) == CONNECTION_OK) return;
    throw SchemaRefused(
        "the database cannot be reached: " + text_of(::PQerrorMessage(connection_.get())) +
        "; see that it runs, and that its host, port, name, user and password "
        "are right");
  }

  /// The first column of the first row; empty without one. `what` says what it was for, if it
  /// fails.
  std::string run(const char* statements, const char* what) {
    const Result result(::PQexec(connection_.get(), statements));
    const auto status = ::PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) refuse(result.get(), what);
    return ::PQntuples(result.get()) > 0 ? ::PQgetvalue(result.get(), 0, 0) : "";
  }

  /// Of the schema; 0 without one.
  int version() {
    constexpr auto what = "the version of the schema \"heistd\" cannot be read: ";
    if (run("SELECT to_regclass('heistd.version')", what).empty()) return 0;
    return std::stoi(run("SELECT number FROM heistd.version", what));
  }

 private:
  struct End {
    void operator()(::PGresult* result) const noexcept { ::PQclear(result); }
  };
  using Result = std::unique_ptr<::PGresult, End>;

  [[noreturn]] void refuse(const ::PGresult* result, const char* what) const {
    const char* const sqlstate = ::PQresultErrorField(result, PG_DIAG_SQLSTATE);
    throw SchemaRefused(what + text_of(::PQerrorMessage(connection_.get())) +
                        remedy_for(sqlstate == nullptr ? "" : sqlstate));
  }

  Connection connection_;
};

[[noreturn]] void refuse_newer(int found) {
  throw SchemaRefused("a newer version of heistd has made the schema of this database (" +
                      std::to_string(found) + "; this program knows " +
                      std::to_string(schema_version) + "): use that version");
}

/// Version 1 was the number of several states of the tables. The index came with the last one.
void refuse_trial(SchemaSession& session, const char* what) {
  if (!session.run("SELECT to_regclass('heistd.open_waiting')", what).empty()) return;
  throw SchemaRefused(
      "the schema \"heistd\" of this database is of an earlier trial, with tables that cannot be "
      "upgraded; nothing was changed: drop it, with all its jobs (DROP SCHEMA heistd CASCADE), and "
      "run heistd migrate again");
}

}  // namespace

int migrate(const std::string& target) {
  constexpr auto what = "the schema \"heistd\" cannot be made, and nothing was changed: ";
  const PostgresTarget readable(target);  // says what is wrong without a password in it
  SchemaSession session(target);
  session.run("SET client_min_messages = warning; BEGIN", what);
  session.run("SELECT pg_advisory_xact_lock(hashtext('heistd.migrate'))", what);
  const int found = session.version();
  if (found > schema_version) refuse_newer(found);
  if (found == schema_version) return found;  // functions that others use stay as they are
  if (found > 0) refuse_trial(session, what);
  // All servers wait behind this while it waits for others.
  session.run("SET LOCAL lock_timeout = '5s'", what);
  if (found == 0) session.run("CREATE SCHEMA heistd", what);
  session.run("SET LOCAL search_path = heistd", what);
  session.run(found == 0 ? sql_tables : sql_upgrade, what);
  for (const auto* const functions : sql_functions) session.run(functions, what);
  const auto number = std::to_string(schema_version);
  session.run(("UPDATE version SET number = " + number + "; COMMIT").c_str(), what);
  return found;
}

void check_schema(const std::string& target) {
  const PostgresTarget readable(target);
  const int found = SchemaSession(target).version();
  if (found > schema_version) refuse_newer(found);
  if (found == schema_version) return;
  throw SchemaRefused((found == 0
                           ? std::string("the database has no schema of heistd's")
                           : "the schema of this database is of version " + std::to_string(found) +
                                 ", and this program needs " + std::to_string(schema_version)) +
                      ": run heistd migrate with the same --journal");
}

}  // namespace heistd
