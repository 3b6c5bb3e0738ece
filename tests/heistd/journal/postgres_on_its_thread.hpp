// PostgresOnItsThread: a journal in PostgreSQL with a network's thread of its own.
#pragma once

#include <libpq-fe.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <heistd/postgresql/postgres_journal.hpp>
#include <heistd/postgresql/postgres_schema.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace heistd {

struct TestNetwork {
  boost::asio::io_context context;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      context.get_executor()};
};

class PostgresOnItsThread : private TestNetwork, public PostgresJournal {
 public:
  using OnLost = std::function<void(const std::vector<JobId>&)>;
  explicit PostgresOnItsThread(
      JournalClock clock, std::string node = "test",
      OnLost on_lost = [](const std::vector<JobId>& /*none*/) {},
      std::chrono::milliseconds lease = std::chrono::seconds(10),
      std::function<void()> on_hint = [] {})
      : PostgresJournal(context.get_executor(), {.target = PostgresTarget(""),
                                                 .node = std::move(node),
                                                 .lease = lease,
                                                 .clock = std::move(clock),
                                                 .on_lost = std::move(on_lost),
                                                 .on_hint = std::move(on_hint)}),
        thread_([this] { context.run(); }) {}
  ~PostgresOnItsThread() override {
    context.stop();
    thread_.join();
  }
  PostgresOnItsThread(const PostgresOnItsThread&) = delete;
  PostgresOnItsThread& operator=(const PostgresOnItsThread&) = delete;

 private:
  std::thread thread_;
};

/// A session in the database that the environment names.
class OpenSession {
 public:
  OpenSession() : connection_(::PQconnectdb(""), &::PQfinish) {}
  /// The first value of the last statement's answer; empty without one.
  std::string run(const std::string& statements) const {
    const std::unique_ptr<::PGresult, decltype(&::PQclear)> result(
        ::PQexec(connection_.get(), statements.c_str()), &::PQclear);
    const auto status = ::PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
      throw std::runtime_error(::PQerrorMessage(connection_.get()));
    }
    return ::PQntuples(result.get()) > 0 ? ::PQgetvalue(result.get(), 0, 0) : "";
  }

 private:
  std::unique_ptr<::PGconn, decltype(&::PQfinish)> connection_;
};

inline std::string run_sql(const std::string& statements) { return OpenSession().run(statements); }

/// What an earlier test has left under way would be in the way.
inline void drop_schema() {
  run_sql(
      "SET client_min_messages = error; SELECT pg_terminate_backend(pid, 10000) FROM "
      "pg_stat_activity WHERE pid <> pg_backend_pid() "
      "AND datname = current_database()");
  run_sql("SET client_min_messages = warning; DROP SCHEMA IF EXISTS heistd CASCADE");
}

}  // namespace heistd
