// Rule: LIF-1, LIF-2: combinators whose loop closes, whose result or inputs are dropped, whose
//         inputs are of other loops.
#include <gtest/gtest.h>

#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "combinators/probes.hpp"
#include "support/threads.hpp"

namespace heist {
namespace {

using Probe = support::LiveCount::Probe;

class CombinatorLifetime : public test::CombinatorTest {
 protected:
  [[nodiscard]] static Scheduler closed_scheduler() {
    const EventLoop gone({.clock = LoopClock::virtual_time});
    return gone.scheduler();
  }
  /// Fulfils with a tracked value, and keeps nothing of it.
  void resolve(test::Pair<Probe>& pair) const {
    pair.resolver.resolve(callbacks.probe());
    pair.promise = Promise<Probe>::resolved(nullptr);
  }

  test::Pair<Probe> first = Promise<Probe>::with_resolver();
  test::Pair<Probe> second = Promise<Probe>::with_resolver();
};

// Rule: LIF-1
TEST_F(CombinatorLifetime, loop_when_closed_before_then_rejected_once_an_input_settles) {
  const Scheduler closed = closed_scheduler();
  const auto all = when_all(closed, first.promise, second.promise);
  const auto any = when_any(closed, first.promise, second.promise);
  const auto winner = race(closed, std::vector{first.promise, second.promise});
  EXPECT_FALSE(all.settled());
  resolve(first);
  EXPECT_THROW(static_cast<void>(all.get()), InvalidStateError);
  EXPECT_THROW(static_cast<void>(any.get()), InvalidStateError);
  EXPECT_THROW(static_cast<void>(winner.get()), InvalidStateError);
}

// Rule: LIF-1
TEST_F(CombinatorLifetime, loop_when_closed_and_an_input_has_settled_then_rejected_at_once) {
  const auto all =
      when_all(closed_scheduler(), Promise<int>::resolved(1), Promise<int>::resolved(2));
  EXPECT_THROW(static_cast<void>(all.get()), InvalidStateError);
}

// Rule: LIF-1
TEST_F(CombinatorLifetime, loop_when_closed_between_two_inputs_then_the_next_one_rejects_it) {
  auto other = std::make_unique<EventLoop>(EventLoopOptions{.clock = LoopClock::virtual_time});
  const auto all = when_all(other->scheduler(), first.promise, second.promise);
  resolve(first);
  other->run_until_idle();
  other.reset();
  EXPECT_FALSE(all.settled());
  EXPECT_EQ(callbacks.alive(), 1) << "still to be combined";
  resolve(second);
  EXPECT_THROW(static_cast<void>(all.get()), InvalidStateError);
  EXPECT_EQ(callbacks.alive(), 0);
}

// Rule: LIF-1
TEST_F(CombinatorLifetime,
       loop_when_it_closes_with_reactions_on_their_way_then_they_run_or_reject) {
  auto other = std::make_unique<EventLoop>(EventLoopOptions{.clock = LoopClock::virtual_time});
  const auto all = when_all(other->scheduler(), first.promise);
  resolve(first);
  other.reset();
  EXPECT_TRUE(all.settled());
}

TEST_F(CombinatorLifetime, result_when_dropped_then_the_values_go_with_the_last_input) {
  in_task([&] { static_cast<void>(when_all(first.promise, second.promise)); });
  resolve(first);
  loop.run_until_idle();
  resolve(second);
  loop.run_until_idle();
  EXPECT_EQ(callbacks.alive(), 0);
}

TEST_F(CombinatorLifetime, inputs_when_all_are_there_then_only_the_result_holds_values) {
  std::optional all = made_here([&] { return when_all(first.promise, second.promise); });
  resolve(first);
  resolve(second);
  loop.run_until_idle();
  EXPECT_EQ(callbacks.alive(), 2);
  all.reset();
  EXPECT_EQ(callbacks.alive(), 0);
}

TEST_F(CombinatorLifetime, inputs_when_one_stays_pending_then_a_decided_race_holds_no_value) {
  std::optional winner = made_here([&] { return race(first.promise, second.promise); });
  resolve(first);
  loop.run_until_idle();
  EXPECT_EQ(callbacks.alive(), 1);
  winner.reset();
  EXPECT_EQ(callbacks.alive(), 0);
  resolve(second);
  loop.run_until_idle();
}

TEST_F(CombinatorLifetime, inputs_when_they_settle_after_the_decision_then_their_values_go) {
  const auto all = made_here([&] {
    return when_all(first.promise, Promise<int>::rejected(Reason("no")), second.promise);
  });
  loop.run_until_idle();
  resolve(first);
  loop.run_until_idle();
  EXPECT_EQ(callbacks.alive(), 0);
  resolve(second);
  loop.run_until_idle();
}

TEST_F(CombinatorLifetime, resolver_when_dropped_then_the_combinator_rejects_with_invalid_state) {
  const auto all = made_here([&] { return when_all(first.promise, second.promise); });
  {
    const auto dropped = std::move(second.resolver);
  }
  loop.run_until_idle();
  EXPECT_THROW(static_cast<void>(all.get()), InvalidStateError);
}

TEST_F(CombinatorLifetime,
       combinators_when_nested_on_a_closed_loop_then_all_reject_without_a_stack) {
  const Scheduler closed = closed_scheduler();
  auto outer = first.promise.then(closed, [](const Probe&) {});
  for (int i = 0; i < 100'000; ++i) outer = race(closed, std::move(outer));
  resolve(first);
  EXPECT_THROW(outer.get(), InvalidStateError);
}

TEST_F(CombinatorLifetime, any_when_nested_and_rejected_then_its_errors_go_without_a_stack) {
  auto outer = when_any(scheduler, first.promise);
  for (int i = 0; i < 100'000; ++i) outer = when_any(scheduler, std::move(outer));
  first.resolver.reject(Reason(std::string("no")));
  loop.run_until_idle();
  EXPECT_THROW(static_cast<void>(outer.get()), AggregateError);
  outer = Promise<Probe>::resolved(nullptr);
}

TEST_F(CombinatorLifetime, inputs_when_of_other_agents_then_it_settles_on_its_own) {
  const Agent one;
  const Agent two;
  const Agent here;
  const auto thread = here.scheduler().post_task([] { return std::this_thread::get_id(); });
  const auto body = [&]() -> Promise<std::thread::id> {
    auto all = when_all(one.scheduler().post_task([] { return 1; }),
                        two.scheduler().post_task([] { return 2; }));
    const auto values = co_await all;
    EXPECT_EQ(values, std::tuple(1, 2));
    co_return std::this_thread::get_id();
  };
  const auto task = here.scheduler().post_task(body);
  EXPECT_EQ(task.get(), thread.get());
}

TEST_F(CombinatorLifetime,
       inputs_when_many_settle_from_other_threads_while_the_loop_closes_then_settled) {
  for (int round = 0; round < 200; ++round) {
    std::optional<Agent> agent(std::in_place);
    std::vector<test::Pair<Probe>> pairs;
    std::vector<Promise<Probe>> inputs;
    for (int i = 0; i < 4; ++i) {
      pairs.push_back(Promise<Probe>::with_resolver());
      inputs.push_back(pairs.back().promise);
    }
    const auto all = when_all(agent->scheduler(), std::move(inputs));
    std::thread settling([&] {
      for (auto& pair : pairs) resolve(pair);
    });
    agent.reset();
    settling.join();
    EXPECT_TRUE(all.settled());
  }
}

}  // namespace
}  // namespace heist
