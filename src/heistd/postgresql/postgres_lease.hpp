// PostgresLease: until when a server may go on with what it has claimed.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace heistd {

/// A server that does not renew its lease is taken for gone, and its jobs are given to others. So
/// it gives its work up itself before that: when half of the lease is over since it has sent what
/// renewed it last. It asks for that a quarter of the lease after the last time, and then each
/// eighth until it has an answer.
///
/// Thread: the executor's, on which all is called.   Blocks: never.
class PostgresLease {
 public:
  /// It goes on while the machine sleeps, as that of the database does.
  struct Clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<Clock>;
    static constexpr bool is_steady = true;
    [[nodiscard]] static time_point now() noexcept;
  };
  struct Events {
    std::function<void()> renew;   ///< the lease is to be renewed
    std::function<void()> lapsed;  ///< what was claimed is not this server's any more
  };

  using Now = std::function<Clock::time_point()>;
  PostgresLease(const boost::asio::any_io_executor& executor, std::chrono::milliseconds lease,
                Events events, Now now = &Clock::now)
      : lease_(lease),
        events_(std::move(events)),
        now_(std::move(now)),
        renewal_(executor),
        end_(executor) {}

  /// It was renewed by what was sent then.   Errors: std::bad_alloc.
  void renewed(Clock::time_point sent);

  /// Whether what was claimed may go on.
  [[nodiscard]] bool holds() const noexcept { return sent_ && now_() < *sent_ + lease_ / 2; }
  /// It is over, as the database has said. What follows is as when it has lapsed.
  void end();

  [[nodiscard]] std::chrono::milliseconds time() const noexcept { return lease_; }

 private:
  template <class Function>
  void call_at(boost::asio::steady_timer& timer, Clock::time_point time, Function function);
  void on_renewal();
  void on_end();

  const std::chrono::milliseconds lease_;
  const Events events_;
  const Now now_;
  boost::asio::steady_timer renewal_;
  boost::asio::steady_timer end_;
  std::optional<Clock::time_point> sent_;  ///< what renewed it last; nothing: there is none
  const std::shared_ptr<const bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace heistd
