#include <heistd/postgresql/postgres_hints.hpp>
#include <utility>

namespace heistd {
namespace {

constexpr std::chrono::milliseconds pause{100};

}  // namespace

void PostgresHints::listen() {
  static constexpr PostgresStatement statement = {"listen", "LISTEN heistd"};
  session_.ask_first({statement}, [](const PostgresResult& /*none*/) {});
}

void PostgresHints::tell() {
  static constexpr PostgresStatement statement = {"tell", "SELECT FROM pg_notify('heistd', '')"};
  if (is_pausing_) {
    is_due_ = true;
    return;
  }
  session_.ask({statement}, [](const PostgresResult& /*none*/) {});
  is_pausing_ = true;
  pause_.expires_after(pause);
  pause_.async_wait([this, weak = std::weak_ptr(alive_)](const boost::system::error_code& error) {
    if (error || weak.expired()) return;
    is_pausing_ = false;
    if (std::exchange(is_due_, false)) tell();
  });
}

}  // namespace heistd
