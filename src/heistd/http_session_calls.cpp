// What a connection's request asks of the network's thread, which alone knows clients and jobs.
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>
#include <heist/asio/async_wait.hpp>
#include <heistd/guarded.hpp>
#include <heistd/http_session.hpp>
#include <new>
#include <utility>

namespace heistd {
namespace {

namespace asio = boost::asio;

/// How long a request waits for an agent to have compiled its pattern.
constexpr std::chrono::seconds verdict_patience{1};

asio::awaitable<void> await_verdict(heist::Promise<void> verdict) {
  using asio::experimental::awaitable_operators::operator||;
  asio::steady_timer patience(co_await asio::this_coro::executor, verdict_patience);
  auto judged = heist::async_wait(std::move(verdict), asio::use_awaitable);
  auto over = patience.async_wait(asio::use_awaitable);
  auto either = std::move(judged) || std::move(over);
  co_await std::move(either);
}

}  // namespace

asio::awaitable<HttpSession::Answer> HttpSession::begin(const RequestHead& head,
                                                        const Routed& routed, Parser& parser) {
  auto step = guarded([&] { return api_.begin(head, routed); });
  if (const auto* const checking = std::get_if<Checking>(&step)) {
    const auto refusal = checking->refusal;
    co_await wait_for_verdict(checking->verdict);
    step = guarded([&]() -> Api::Step {
      if (refusal && *refusal) return make_reply(**refusal);
      return api_.begin(head, routed, Unchecked::accept);
    });
  }
  if (auto* const storing = std::get_if<Storing>(&step)) {
    auto settled = settle(*storing);
    co_return co_await std::move(settled);
  }
  if (auto* const upload = std::get_if<Upload>(&step)) {
    take_what_has_come(parser, *upload);
    if (!parser.is_done()) co_return std::move(*upload);
    auto finished = finish(*upload);
    co_return co_await std::move(finished);
  }
  if (auto* const observing = std::get_if<Observing>(&step))
    co_return observe(std::move(*observing));
  if (auto* const listening = std::get_if<Listening>(&step))
    co_return listen(std::move(*listening));
  if (auto* const waiting = std::get_if<Waiting>(&step)) co_return answer_of(std::move(*waiting));
  co_return std::get<Reply>(std::move(step));
}

asio::awaitable<HttpSession::Answer> HttpSession::finish(Upload& upload) {
  auto outcome = guarded([&] { return api_.finish(std::move(upload)); });
  if (auto* const storing = std::get_if<Storing>(&outcome)) {
    auto settled = settle(*storing);
    co_return co_await std::move(settled);
  }
  co_return answer_of(std::move(outcome));
}

/// Waits for the journal. That has no limit of its own, as the journal answers with an error when
/// its disk fails.
asio::awaitable<HttpSession::Answer> HttpSession::settle(Storing& storing) {
  Api::Outcome outcome(std::move(storing));
  while (const auto* const more = std::get_if<Storing>(&outcome)) {
    auto answered = heist::async_wait(
        more->answered, asio::bind_executor(crossing_.network(), asio::use_awaitable));
    co_await std::move(answered);
    auto then = guarded([more] { return more->then(); });
    outcome = std::move(then);
  }
  co_return answer_of(std::move(outcome));
}

/// Waits for an agent's verdict on a pattern, for a moment: without one the job's own failure says
/// what is wrong with it.
asio::awaitable<void> HttpSession::wait_for_verdict(const heist::Promise<void>& verdict) {
  auto judged = asio::co_spawn(crossing_.network(), await_verdict(verdict),
                               asio::bind_executor(crossing_.network(), asio::use_awaitable));
  co_await std::move(judged);
}

/// Of what waits no longer.
HttpSession::Answer HttpSession::answer_of(Api::Outcome outcome) {
  auto* const waiting = std::get_if<Waiting>(&outcome);
  if (waiting == nullptr) return std::get<Reply>(std::move(outcome));
  if (waiting->job->finished()) return guarded([&] { return api_.waited(*waiting); });
  return Away<JobWait>(crossing_, std::make_unique<JobWait>(std::move(*waiting), waker()));
}

HttpSession::Answer HttpSession::observe(Observing observing) {
  observing.observation->on_made = waker();
  return observing;
}

/// It tells again and again. Without memory to post that, it does so the next time.
HttpSession::Answer HttpSession::listen(Listening listening) {
  listening.stream->on_more = [self = weak_from_this(), wait = wait_, crossing = crossing_] {
    const auto tell = [self, wait] {
      if (const auto session = self.lock()) session->wake(wait);
    };
    if (!crossing.is_needed()) return tell();
    try {
      asio::post(crossing.connection(), tell);
    } catch (const std::bad_alloc&) {
    }
  };
  return Away<Listening>(crossing_, std::make_unique<Listening>(std::move(listening)));
}

/// Wakes the session, once. With two threads the wait has the memory for that from now on.
std::function<void()> HttpSession::waker() {
  const auto tell = [self = weak_from_this(), wait = wait_] {
    if (const auto session = self.lock()) session->wake(wait);
  };
  if (!crossing_.is_needed()) return tell;
  auto [promise, resolver] = heist::Promise<void>::with_resolver();
  heist::async_wait(promise, asio::bind_executor(crossing_.connection(),
                                                 [tell](const std::exception_ptr& dropped) {
                                                   if (!dropped) tell();
                                                 }));
  return
      [woken = std::make_shared<heist::Resolver<void>>(std::move(resolver))] { woken->resolve(); };
}

asio::awaitable<Reply> HttpSession::end_wait(JobWait& wait, bool left) {
  wait.end();
  if (!left) co_return guarded([&] { return api_.waited(wait.waiting()); });
  api_.drop(wait.waiting());
  co_return Reply();
}

/// Nothing when there is no memory for it, either.
asio::awaitable<std::optional<std::string>> HttpSession::next_of(ReplyRest& rest) {
  try {
    auto piece = heist::async_wait(rest.next(),
                                   asio::bind_executor(crossing_.network(), asio::use_awaitable));
    co_return co_await std::move(piece);
  } catch (const std::bad_alloc&) {
    co_return std::nullopt;
  }
}

asio::awaitable<void> HttpSession::end_observation(Observation& observation) {
  observation.end_early();
  co_return;
}

}  // namespace heistd
