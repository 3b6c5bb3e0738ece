// What a connection's request waits for: a check of its parameters, the journal, its job's end, a
// dump or a trace. The client may go meanwhile.
#include <poll.h>
#include <algorithm>
#include <array>

#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <heist/asio/async_wait.hpp>
#include <heistd/guarded.hpp>
#include <heistd/http_session.hpp>
#include <heistd/network_reserve.hpp>
#include <new>
#include <utility>

namespace heistd {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::milliseconds peer_check_interval{100};
/// Of a read and a wait for the timer: the read was given up.
bool expiry_came_first(const std::array<std::size_t, 2>& order) noexcept { return order[0] == 1; }

/// The peer has closed its end, or the connection is broken. Needs no room for what it sent before.
bool peer_has_left(Stream::socket& socket) {
  pollfd entry{socket.native_handle(), POLLRDHUP, 0};
  return ::poll(&entry, 1, 0) > 0;
}

}  // namespace

/// Before the network's thread gets what is to wake the session; what others still tell it after
/// that does not.
void HttpSession::expect_wake() noexcept {
  deadline_->clear();
  ++wait_;
  is_woken_ = false;
}

void HttpSession::wake(std::uint64_t wait) {
  if (wait != wait_) return;
  is_woken_ = true;
  finished_.cancel();
}

asio::awaitable<void> HttpSession::wait_for_job(Away<JobWait>& wait) {
  const auto& most = wait->waiting().patience.most;
  const auto until = most ? Clock::now() + *most : Time::max();
  if (!is_woken_) {  // most jobs end soon, and then a read would have been in vain
    finished_.expires_at(std::min(until, Clock::now() + peer_check_interval));
    co_await finished_.async_wait(as_tuple);
  }
  const bool left = co_await client_left_before(until);
  if (left) keep_alive_ = false;
  auto ended = end_wait(*wait, left);
  auto called = crossing_.call(ended);
  const auto reply = co_await std::move(called);
  if (!left) co_await answer(reply);
}

/// Nobody is to wait for a trace that nobody will read.
asio::awaitable<void> HttpSession::wait_for_observation(Observation& observation) {
  const bool left = co_await client_left_before(Time::max());
  if (left) {
    keep_alive_ = false;
    auto ended = end_observation(observation);
    auto called = crossing_.call(ended);
    co_await std::move(called);
    co_return;
  }
  co_await answer(*observation.reply);
}

/// Waits until the session is woken, or it is too late (false), or the client has closed
/// its end (true).
/// Requests that come meanwhile are read ahead; when there is no room for more, the connection's
/// state is polled.
asio::awaitable<bool> HttpSession::client_left_before(Time until) {
  while (!is_woken_ && Clock::now() < until) {
    const auto room = room_to_read_ahead();
    if (room.size() == 0) {
      finished_.expires_at(std::min(until, Clock::now() + peer_check_interval));
      co_await finished_.async_wait(as_tuple);
      if (!is_woken_ && peer_has_left(wire_.socket())) co_return true;
      continue;
    }
    finished_.expires_at(until);
    auto group = asio::experimental::make_parallel_group(
        wire_.async_read_some(room, asio::deferred), finished_.async_wait(asio::deferred));
    const auto [order, error, bytes, expiry] =
        co_await group.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
    buffer_.commit(bytes);
    if (error && !expiry_came_first(order) && !is_woken_) co_return true;
  }
  co_return false;
}

/// The buffer's own room first: more of it takes memory, and only for a client that goes on
/// sending.
asio::mutable_buffer HttpSession::room_to_read_ahead() {
  const auto left = read_ahead_bytes - std::min(read_ahead_bytes, buffer_.size());
  const auto unused = buffer_.capacity() - buffer_.size();
  if (unused > 0) return buffer_.prepare(std::min(left, unused));
  try {
    const NetworkReserve::Withheld only_what_is_left;
    return buffer_.prepare(std::min(left, read_bytes));
  } catch (const std::bad_alloc&) {
    return {};
  }
}

}  // namespace heistd
