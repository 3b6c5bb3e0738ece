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
/// How long a request waits for an agent to have compiled its pattern.
constexpr std::chrono::seconds verdict_patience{1};

/// Of a read and a wait for the timer: the read was given up.
bool expiry_came_first(const std::array<std::size_t, 2>& order) noexcept { return order[0] == 1; }

/// The peer has closed its end, or the connection is broken. Needs no room for what it sent before.
bool peer_has_left(Stream::socket& socket) {
  pollfd entry{socket.native_handle(), POLLRDHUP, 0};
  return ::poll(&entry, 1, 0) > 0;
}

}  // namespace

/// Waits for an agent's verdict on a pattern, for a moment: without one the job's own failure says
/// what is wrong with it.
asio::awaitable<void> HttpSession::wait_for_verdict(const heist::Promise<void>& verdict) {
  using asio::experimental::awaitable_operators::operator||;
  deadline_->clear();
  finished_.expires_after(verdict_patience);
  auto judged = heist::async_wait(verdict, asio::use_awaitable);
  auto over = finished_.async_wait(asio::use_awaitable);
  auto either = std::move(judged) || std::move(over);
  co_await std::move(either);
}

/// The wait has no limit of its own, as the journal answers with an error when its disk fails.
asio::awaitable<void> HttpSession::wait_until_stored(const Storing& storing) {
  deadline_->clear();
  auto answered = heist::async_wait(storing.answered, asio::use_awaitable);
  co_await std::move(answered);
  auto step = guarded([&] { return storing.then(); });
  if (auto* waiting = std::get_if<Waiting>(&step)) {
    co_await wait_for_job(*waiting);
  } else if (const auto* more = std::get_if<Storing>(&step)) {
    co_await wait_until_stored(*more);
  } else {
    co_await answer(std::get<Reply>(step));
  }
}

asio::awaitable<void> HttpSession::wait_for_job(Waiting& waiting) {
  deadline_->clear();
  auto& job = *waiting.job;
  const auto listener = job.on_finished.emplace(job.on_finished.end(), [self = weak_from_this()] {
    if (const auto session = self.lock()) session->finished_.cancel();
  });
  const auto& most = waiting.patience.most;
  const auto until = most ? Clock::now() + *most : Time::max();
  const std::function<bool()> finished = [&job] { return job.finished(); };
  const bool left = co_await client_left_before(finished, until);
  job.on_finished.erase(listener);
  waiting.share = {};
  if (left) {
    keep_alive_ = false;
    api_.drop(waiting);
    co_return;
  }
  const auto reply = guarded([&] { return api_.waited(waiting); });
  co_await answer(reply);
}

/// Nobody is to wait for a trace that nobody will read.
asio::awaitable<void> HttpSession::wait_for_observation(Observation& observation) {
  deadline_->clear();
  observation.on_made = [self = weak_from_this()] {
    if (const auto session = self.lock()) session->finished_.cancel();
  };
  const std::function<bool()> made = [&observation] { return observation.reply.has_value(); };
  const bool left = co_await client_left_before(made, Time::max());
  if (left) {
    keep_alive_ = false;
    observation.end_early();
    co_return;
  }
  co_await answer(*observation.reply);
}

/// Waits until what is waited for has finished, or it is too late (false), or the client has closed
/// its end (true).
/// Requests that come meanwhile are read ahead; when there is no room for more, the connection's
/// state is polled.
asio::awaitable<bool> HttpSession::client_left_before(const std::function<bool()>& finished,
                                                      Time until) {
  while (!finished() && Clock::now() < until) {
    const auto room = room_to_read_ahead();
    if (room.size() == 0) {
      finished_.expires_at(std::min(until, Clock::now() + peer_check_interval));
      co_await finished_.async_wait(as_tuple);
      if (!finished() && peer_has_left(socket_)) co_return true;
      continue;
    }
    finished_.expires_at(until);
    auto group = asio::experimental::make_parallel_group(
        socket_.async_read_some(room, asio::deferred), finished_.async_wait(asio::deferred));
    const auto [order, error, bytes, expiry] =
        co_await group.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
    buffer_.commit(bytes);
    if (error && !expiry_came_first(order) && !finished()) co_return true;
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
