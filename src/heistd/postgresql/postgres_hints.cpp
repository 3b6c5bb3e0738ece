#include <heistd/postgresql/postgres_hints.hpp>
#include <utility>

namespace heistd {
namespace {

constexpr std::chrono::milliseconds pause{100};

/// Those who commit hints wait for each other, so nothing else is committed with one.
void tell_by(PostgresSession& session) {
  static constexpr PostgresStatement statement = {"tell", "SELECT FROM pg_notify('heistd', '')"};
  session.ask_alone({statement}, [](const PostgresResult& /*none*/) {});
}

}  // namespace

PostgresHints::PostgresHints(PostgresSession& session, const boost::asio::any_io_executor& executor,
                             std::function<void()> on_hint)
    : session_(session),
      told_(executor, pause, [&session] { tell_by(session); }),
      heard_(executor, pause, std::move(on_hint)) {}

void PostgresHints::listen() {
  static constexpr PostgresStatement statement = {"listen", "LISTEN heistd"};
  session_.ask_first({statement}, [](const PostgresResult& /*none*/) {});
}

}  // namespace heistd
