// Rule: YLD-3, YLD-4: when the combinators settle, counted in microtasks, as in JavaScript.
#include <gtest/gtest.h>

#include <functional>
#include <heist/heist.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "combinators/probes.hpp"

namespace heist {
namespace {

using testing::ElementsAre;

class CombinatorOrder : public test::CombinatorTest {
 protected:
  /// Counts microtasks aloud.
  void tick(int number) {
    queue_microtask([this, number] {
      trace.add(std::to_string(number));
      if (number < 4) tick(number + 1);
    });
  }
  /// In how many microtasks the reaction of what `make` makes runs, with all inputs there.
  template <class Make>
  [[nodiscard]] std::vector<std::string> ticks_of(Make make) {
    in_task([&] {
      auto promise = make();
      static_cast<void>(promise.then([this](const auto&...) { trace.add("then"); },
                                     [this](const Reason&) { trace.add("caught"); }));
      tick(1);
    });
    return trace.take();
  }

  const Promise<int> value = Promise<int>::resolved(1);
  const Promise<int> failure = Promise<int>::rejected(Reason("no"));
};

// As in JavaScript: Promise.resolve(1).then(...) runs before 1, Promise.all([1, 2]).then(...)
// before 2.
TEST_F(CombinatorOrder, result_when_all_inputs_are_settled_then_one_microtask_behind_the_decider) {
  EXPECT_THAT(ticks_of([&] { return value; }), ElementsAre("then", "1", "2", "3", "4"));
  EXPECT_THAT(ticks_of([&] { return when_all(value, value); }),
              ElementsAre("1", "then", "2", "3", "4"));
  EXPECT_THAT(ticks_of([&] { return when_all(value, failure); }),
              ElementsAre("1", "caught", "2", "3", "4"));
  EXPECT_THAT(ticks_of([&] { return when_any(failure, value); }),
              ElementsAre("1", "then", "2", "3", "4"));
  EXPECT_THAT(ticks_of([&] { return when_any(failure, failure); }),
              ElementsAre("1", "caught", "2", "3", "4"));
  EXPECT_THAT(ticks_of([&] { return race(value, failure); }),
              ElementsAre("1", "then", "2", "3", "4"));
}

TEST_F(CombinatorOrder, result_when_without_inputs_then_settled_before_any_microtask) {
  EXPECT_THAT(ticks_of([] { return when_all(std::vector<Promise<int>>()); }),
              ElementsAre("then", "1", "2", "3", "4"));
  EXPECT_THAT(ticks_of([] { return when_any(std::vector<Promise<int>>()); }),
              ElementsAre("caught", "1", "2", "3", "4"));
}

TEST_F(CombinatorOrder, inputs_when_they_have_other_reactions_then_ours_take_their_place_in_line) {
  auto pair = Promise<int>::with_resolver();
  in_task([&] {
    static_cast<void>(pair.promise.then([this](int) { trace.add("before"); }));
    static_cast<void>(race(pair.promise).then([this](int) { trace.add("raced"); }));
    static_cast<void>(pair.promise.then([this](int) { trace.add("after"); }));
  });
  pair.resolver.resolve(1);
  EXPECT_THAT(run(), ElementsAre("before", "after", "raced"));
}

// Rule: YLD-3
TEST_F(CombinatorOrder, awaiting_when_a_combinator_is_awaited_then_the_scheduling_state_is_kept) {
  const Scheduler second = loop.create_scheduler();
  std::optional<Scheduler> seen;
  const auto body = [&]() -> Promise<void> {
    auto all = when_all(value, value);
    co_await all;
    seen = Scheduler::current();
  };
  const auto task = second.post_task(body);
  loop.run_until_idle();
  EXPECT_EQ(seen, second);
}

}  // namespace
}  // namespace heist
