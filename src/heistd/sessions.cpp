#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <heistd/sessions.hpp>
#include <iostream>
#include <string>
#include <utility>

namespace heistd {
namespace {

namespace asio = boost::asio;

/// In one piece, as several threads may do so.
void log_failure(const std::exception_ptr& failure) {
  try {
    if (failure) std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    std::cerr << "heistd: connection failed: " + std::string(error.what()) + "\n" << std::flush;
  }
}

}  // namespace

void Sessions::start(Accepted accepted, const std::function<void()>& ended) {
  try {
    asio::co_spawn(context_.crossing.connection(), serve(std::move(accepted)),
                   [ended](const std::exception_ptr& failure) {
                     log_failure(failure);
                     ended();
                   });
  } catch (const std::exception&) {
    log_failure(std::current_exception());
    ended();
  }
}

asio::awaitable<void> Sessions::serve(Accepted accepted) {
  const SessionContext context{context_.api, limits_, context_.names, context_.crossing};
  const auto session = std::make_shared<HttpSession>(std::move(accepted), context);
  sessions_.insert(session);
  std::exception_ptr failure;
  try {
    auto served = session->serve();
    co_await std::move(served);
  } catch (...) {
    failure = std::current_exception();
  }
  sessions_.erase(session);
  tell_quiet();
  if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
}

void Sessions::stop(std::function<void()> quiet) {
  quiet_ = std::move(quiet);
  for (const auto& session : sessions_) session->stop();
  tell_quiet();
}

void Sessions::tell_quiet() {
  if (quiet_ && sessions_.empty()) std::exchange(quiet_, nullptr)();
}

}  // namespace heistd
