// Sessions: the connections of one thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <heistd/accepted.hpp>
#include <heistd/http_session.hpp>
#include <heistd/limits.hpp>
#include <memory>
#include <unordered_set>

namespace heistd {

/// Serves connections until they end, and has all of them end when the server does.
///
/// Thread: the one that runs the connections' io_context.
class Sessions {
 public:
  /// What the context names has to live longer than this, but for its limits.
  explicit Sessions(const SessionContext& context) : limits_(context.limits), context_(context) {}
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;

  /// Serves a connection, whose socket is of the same io_context. Without memory for one more it
  /// is closed. `ended` is called when it is over.
  void start(Accepted accepted, const std::function<void()>& ended);

  /// How long is waited for those who are slow is as in `limits` from now on.
  void renew(const Limits& limits) noexcept { limits_ = limits; }

  /// Ends each connection after the request under way; calls `quiet`, once, when none is left.
  void stop(std::function<void()> quiet);

 private:
  boost::asio::awaitable<void> serve(Accepted accepted);
  void tell_quiet();

  Limits limits_;
  const SessionContext context_;
  std::unordered_set<std::shared_ptr<HttpSession>> sessions_;
  std::function<void()> quiet_;  ///< empty: they go on
};

}  // namespace heistd
