// YieldFixture: tasks that yield, and the ways in which they come to do so.
#pragma once

#include <gmock/gmock.h>

#include <coroutine>
#include <functional>
#include <heist/heist.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/threads.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace heist::support {

using namespace detail;

/// What is done at the end of a hop.
using Body = std::function<Promise<void>()>;
/// A way from the start of a task to its yield.
using Hop = Promise<void> (*)(Body);

/// An awaitable that is no promise: it goes on in a microtask.
struct Thenable {
  [[nodiscard]] bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> coroutine) const {
    queue_microtask([coroutine] { coroutine.resume(); });
  }
  void await_resume() const {}
};

/// An awaitable that does the body while it is awaited.
struct ThenableThatCalls {
  explicit ThenableThatCalls(Body what) : body(std::move(what)) {}
  [[nodiscard]] bool await_ready() const { return false; }
  bool await_suspend(std::coroutine_handle<> /*coroutine*/) {
    result = body();
    return false;
  }
  void await_resume() const {}

  Body body;
  Promise<void> result = Promise<void>::resolved();
};

inline Promise<void> directly(Body body) { return body(); }

inline Promise<void> after_a_pending_promise(Body body) {
  auto pending = Promise<void>::with_resolver();
  Scheduler::current()->post(
      [resolver = std::move(pending.resolver)]() mutable { resolver.resolve(); });
  co_await pending.promise;
  const auto rest = body();
  co_await rest;
}

inline Promise<void> after_a_settled_promise(Body body) {
  const auto settled = Promise<void>::resolved();
  co_await settled;
  const auto rest = body();
  co_await rest;
}

/// Of what never suspends: awaiting a value that is no promise.
inline Promise<void> after_a_plain_value(Body body) {
  const std::suspend_never plain;
  co_await plain;
  const auto rest = body();
  co_await rest;
}

inline Promise<void> in_then_of_a_settled_promise(Body body) {
  return Promise<void>::resolved().then(std::move(body));
}

inline Promise<void> in_then_of_a_chain(Body body) {
  return Promise<void>::resolved().then([] {}).then([] {}).then(std::move(body));
}

inline Promise<void> after_a_thenable(Body body) {
  const Thenable thenable;
  co_await thenable;
  const auto rest = body();
  co_await rest;
}

inline Promise<void> within_a_thenable(Body body) {
  ThenableThatCalls thenable(std::move(body));
  co_await thenable;
  co_await thenable.result;
}

inline Promise<void> after_a_promise_that_follows_another(Body body) {
  const auto following = Promise<void>::resolved().then([] { return Promise<void>::resolved(); });
  co_await following;
  const auto rest = body();
  co_await rest;
}

class YieldFixture : public VirtualLoopFixture {
 protected:
  /// Adds `label0`, and `label1`… after each of `turns` yields.
  Promise<void> yielder(std::string label, int turns, YieldOptions options = {}) {
    trace.add(label + "0");
    for (int turn = 1; turn <= turns; ++turn) {
      co_await heist::yield(options);
      trace.add(label + std::to_string(turn));
    }
  }

  /// Yields among a task of each level; where "continuation" comes shows with which priority.
  Promise<void> compete() {
    post_one_of_each_level();
    co_await heist::yield();
    trace.add("continuation");
  }
  void post_one_of_each_level() {
    post("blocking", {.priority = user_blocking});
    post("visible");
    post("background", {.priority = background});
  }
  static auto as_user_blocking() {
    return testing::ElementsAre("continuation", "blocking", "visible", "background");
  }
  static auto as_user_visible() {
    return testing::ElementsAre("blocking", "continuation", "visible", "background");
  }
  static auto as_background() {
    return testing::ElementsAre("blocking", "visible", "continuation", "background");
  }

  /// A hop over a timer, an answer from another thread, and one more timer.
  Promise<void> far(Body body) {
    const auto first = timer();
    co_await first;
    auto fetched = Promise<void>::with_resolver();
    answer_ = std::move(fetched.resolver);
    co_await fetched.promise;
    const auto second = timer();
    co_await second;
    const auto rest = body();
    co_await rest;
  }
  /// Runs the loop until such a hop is over.
  std::vector<std::string> run_far() {
    loop.run_until_idle();
    loop.advance(1ms);
    on_thread([this] { answer_->resolve(); });
    loop.run_until_idle();
    loop.advance(1ms);
    return run();
  }

 private:
  static Promise<void> timer() {
    auto over = Promise<void>::with_resolver();
    static_cast<void>(set_timeout(
        [resolver = std::move(over.resolver)]() mutable { resolver.resolve(); }, Delay(1ms)));
    return over.promise;
  }

  std::optional<Resolver<void>> answer_;
};

}  // namespace heist::support
