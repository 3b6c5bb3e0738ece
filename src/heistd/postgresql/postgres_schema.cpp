#include <libpq-fe.h>

#include <heistd/postgresql/postgres_schema.hpp>
#include <heistd/postgresql/postgres_target.hpp>
#include <heistd/postgresql/sql_files.hpp>
#include <memory>

namespace heistd {
namespace {

/// One connection, on which one statement runs after the other.
class Migration {
 public:
  explicit Migration(const std::string& target) : connection_(::PQconnectdb(target.c_str())) {
    if (::PQstatus(connection_.get()) != CONNECTION_OK) {
      throw SchemaRefused("the database cannot be reached: " + message());
    }
  }

  /// The first column of the first row; empty without one.
  std::string run(const char* statements) {
    const Result result(::PQexec(connection_.get(), statements));
    const auto status = ::PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
      throw SchemaRefused("the schema \"heistd\" cannot be made; nothing was changed: " +
                          message());
    }
    return ::PQntuples(result.get()) > 0 ? ::PQgetvalue(result.get(), 0, 0) : "";
  }

 private:
  struct End {
    void operator()(::PGconn* connection) const noexcept { ::PQfinish(connection); }
    void operator()(::PGresult* result) const noexcept { ::PQclear(result); }
  };
  using Result = std::unique_ptr<::PGresult, End>;

  [[nodiscard]] std::string message() const { return ::PQerrorMessage(connection_.get()); }

  std::unique_ptr<::PGconn, End> connection_;
};

}  // namespace

int migrate(const std::string& target) {
  const PostgresTarget readable(target);  // says what is wrong without a password in it
  Migration migration(target);
  migration.run("SET client_min_messages = warning; BEGIN");
  migration.run("SELECT pg_advisory_xact_lock(hashtext('heistd.migrate'))");
  const bool is_new = migration.run("SELECT to_regclass('heistd.version')").empty();
  const int found = is_new ? 0 : std::stoi(migration.run("SELECT number FROM heistd.version"));
  if (found > schema_version) {
    throw SchemaRefused("a newer version of heistd has made the schema of this database (" +
                        std::to_string(found) + "): use that version");
  }
  if (found == schema_version) return found;  // functions that others use stay as they are
  if (is_new) migration.run("CREATE SCHEMA heistd");
  migration.run("SET LOCAL search_path = heistd");
  if (is_new) migration.run(sql_tables);
  for (const auto* const functions : sql_functions) migration.run(functions);
  migration.run("COMMIT");
  return found;
}

}  // namespace heistd
