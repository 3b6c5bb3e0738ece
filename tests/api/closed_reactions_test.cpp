// Rule: LIF-1: a reaction registered on a closed loop destroys its frame and rejects that frame's
//         promise. WPT: DET-02.
#include <gtest/gtest.h>

#include <chrono>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/probes.hpp"

namespace heist {
namespace {

using namespace std::chrono_literals;
using Probe = std::shared_ptr<int>;

Promise<int> follow(Promise<int> source, Probe /*frame*/) {
  const int value = co_await source;
  co_return value;
}

class Lif1ClosedReactions : public test::LoopTest {
 protected:
  /// The loop is gone, but for what schedulers and reactions keep of it.
  void destroy_loop() { victim.reset(); }

  template <class Callback>
  void run_on_victim(Callback&& callback) {
    victim->scheduler().post(std::forward<Callback>(callback));
    victim->run_until_idle();
  }

  PromiseWithResolver<int> source = Promise<int>::with_resolver();
  const Probe probe = std::make_shared<int>();
  std::optional<EventLoop> victim = std::make_optional<EventLoop>(test::on_virtual_clock());
  Promise<int> result = Promise<int>::resolved(0);
};

TEST_F(Lif1ClosedReactions,
       WPT_DET_02_coroutine_when_its_loop_went_while_it_waited_then_destroyed_and_rejected) {
  run_on_victim([&] { result = follow(source.promise, probe); });
  destroy_loop();
  source.resolver.resolve(1);
  EXPECT_TRUE(test::is<InvalidStateError>(result.reason()));
  EXPECT_EQ(probe.use_count(), 1);
}

TEST_F(Lif1ClosedReactions, then_when_its_loop_went_while_it_waited_then_destroyed_and_rejected) {
  run_on_victim([&] {
    result = source.promise.then([probe = probe](int value) { return value; },
                                 [probe = probe](const Reason&) { return 0; });
  });
  destroy_loop();
  source.resolver.resolve(1);
  EXPECT_TRUE(test::is<InvalidStateError>(result.reason()));
  EXPECT_EQ(probe.use_count(), 1);
}

TEST_F(Lif1ClosedReactions,
       then_when_it_names_a_closed_scheduler_and_the_promise_is_settled_then_rejects) {
  const Scheduler closed = victim->scheduler();
  destroy_loop();
  result = Promise<int>::resolved(1).then(closed, [probe = probe](int value) { return value; });
  EXPECT_TRUE(test::is<InvalidStateError>(result.reason()));
  EXPECT_EQ(probe.use_count(), 1);
}

TEST_F(Lif1ClosedReactions,
       then_when_it_names_a_closed_scheduler_and_the_promise_is_pending_then_rejects) {
  const Scheduler closed = victim->scheduler();
  destroy_loop();
  result = source.promise.then(closed, [probe = probe](int value) { return value; });
  source.resolver.resolve(1);
  EXPECT_TRUE(test::is<InvalidStateError>(result.reason()));
  EXPECT_EQ(probe.use_count(), 1);
}

TEST_F(Lif1ClosedReactions,
       adoption_when_its_loop_went_while_it_waited_then_rejected_and_callback_destroyed) {
  result =
      victim->scheduler().post_task([probe = probe, promise = source.promise] { return promise; });
  victim->run_until_idle();
  destroy_loop();
  source.resolver.resolve(1);
  EXPECT_TRUE(test::is<InvalidStateError>(result.reason()));
  EXPECT_EQ(probe.use_count(), 1);
}

TEST_F(Lif1ClosedReactions, adoption_when_in_a_reaction_whose_loop_went_then_rejected) {
  run_on_victim([&] {
    result = Promise<int>::resolved(1).then(
        [probe = probe, promise = source.promise](int) { return promise; });
  });
  destroy_loop();
  source.resolver.resolve(1);
  EXPECT_TRUE(test::is<InvalidStateError>(result.reason()));
  EXPECT_EQ(probe.use_count(), 1);
}

// The rejection of the destroyed frame reaches whoever waits for it on a loop that is alive.
TEST_F(Lif1ClosedReactions,
       reaction_when_a_living_loop_follows_a_destroyed_frame_then_it_runs_there) {
  run_on_victim([&] { result = follow(source.promise, probe); });
  run_task([&] {
    static_cast<void>(result.then([](int) {},
                                  [this](const Reason& reason) {
                                    trace.push_back(test::is<InvalidStateError>(reason) ? "rejected"
                                                                                        : "?");
                                  }));
  });
  destroy_loop();
  source.resolver.resolve(1);
  loop.run_until_idle();
  EXPECT_EQ(trace, (test::Trace{"rejected"}));
}

// Rule: PRO-3 (a close is an abort)
TEST_F(Lif1ClosedReactions, rejection_when_nobody_observes_it_then_not_reported) {
  const test::ErrorLog log;
  run_on_victim([&] { static_cast<void>(follow(source.promise, probe)); });
  destroy_loop();
  source.resolver.resolve(1);
  EXPECT_TRUE(test::ErrorLog::take().empty());
  EXPECT_EQ(probe.use_count(), 1);
}

TEST_F(Lif1ClosedReactions, coroutine_when_the_promise_rejects_after_the_close_then_destroyed_too) {
  run_on_victim([&] { result = follow(source.promise, probe); });
  destroy_loop();
  source.resolver.reject(Reason("no"));
  EXPECT_TRUE(test::is<InvalidStateError>(result.reason()));
  EXPECT_EQ(probe.use_count(), 1);
}

TEST_F(Lif1ClosedReactions, coroutine_when_several_wait_for_one_promise_then_all_are_destroyed) {
  std::vector<Promise<int>> results;
  run_on_victim([&] {
    for (int i = 0; i < 10; ++i) results.push_back(follow(source.promise, probe));
  });
  destroy_loop();
  source.resolver.resolve(1);
  for (const auto& each : results) EXPECT_TRUE(test::is<InvalidStateError>(each.reason()));
  EXPECT_EQ(probe.use_count(), 1);
}

// Any length, without a stack as long.
TEST_F(Lif1ClosedReactions,
       coroutines_when_a_hundred_thousand_follow_each_other_then_all_are_destroyed) {
  constexpr int count = 100'000;
  result = source.promise;
  run_on_victim([&] {
    for (int i = 0; i < count; ++i) result = follow(result, probe);
  });
  destroy_loop();
  source.resolver.resolve(1);
  EXPECT_TRUE(test::is<InvalidStateError>(result.reason()));
  EXPECT_EQ(probe.use_count(), 1);
}

TEST_F(Lif1ClosedReactions,
       reactions_when_a_hundred_thousand_follow_each_other_then_all_are_destroyed) {
  constexpr int count = 100'000;
  result = source.promise;
  run_on_victim([&] {
    for (int i = 0; i < count; ++i) {
      result = result.then([probe = probe](int value) { return value; });
    }
  });
  destroy_loop();
  source.resolver.resolve(1);
  EXPECT_TRUE(test::is<InvalidStateError>(result.reason()));
  EXPECT_EQ(probe.use_count(), 1);
}

}  // namespace
}  // namespace heist
