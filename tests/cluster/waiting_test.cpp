// Rule: CLU-5: agents of a cluster that wait for each other; LIF-1: a drain that waits tells for
//         what.
#include <algorithm>
#include <heist/agent_cluster.hpp>

#include "cluster/cluster_fixture.hpp"
#include "heist/loop/drain_watch.hpp"
#include "support/threads.hpp"

namespace heist::support {

using namespace detail;
namespace {

using namespace std::chrono_literals;

class ClusterWaiting : public ClusterOf {
 protected:
  /// In a task: returns once all are here, and so all their agents busy.
  static void meet(Countdown& to_meet) {
    to_meet.done();
    while (to_meet.left() != 0) std::this_thread::yield();
  }
  /// How many of these tasks were refused a wait; all of them end.
  template <class... Tasks>
  static int count_refused(const Tasks&... tasks) {
    int refused = 0;
    const auto look = [&refused](const Promise<int>& task) {
      ASSERT_TRUE(settles(task)) << "it hangs";
      refused += test::is<NotAllowedError>(task.reason()) ? 1 : 0;
    };
    (look(tasks), ...);
    return refused;
  }
};
INSTANTIATE_TEST_SUITE_P(Sizes, ClusterWaiting, several_agents, size_name);

// Started both, each is what the other one waits for, however many agents are free.
TEST_P(ClusterWaiting, get_when_two_running_tasks_wait_for_each_other_then_one_is_refused) {
  test::Gate both_known;
  std::optional<Promise<int>> first;
  std::optional<Promise<int>> second;
  const auto wait_for = [&both_known](std::optional<Promise<int>>& other) {
    return [&both_known, &other] {
      both_known.wait();
      return other->get();
    };
  };
  first = scheduler().post_task(wait_for(second));
  second = scheduler().post_task(wait_for(first));
  both_known.open();
  // Who waits for a refused one gets its error, too.
  EXPECT_EQ(count_refused(*first, *second), 2);
}

TEST_P(ClusterWaiting, get_when_two_agents_wait_for_what_is_bound_to_the_other_then_refused) {
  Countdown to_meet(2);
  const auto wait_for = [&](unsigned other) {
    return [&, other] {
      meet(to_meet);
      return bound(other).post_task([] { return 7; }).get();
    };
  };
  const auto first = bound(0).post_task(wait_for(1));
  const auto second = bound(1).post_task(wait_for(0));
  EXPECT_GE(count_refused(first, second), 1);
}

// Nobody is left to run what all wait for.
TEST_P(ClusterWaiting, get_when_all_agents_wait_for_stealable_work_then_the_last_is_refused) {
  Countdown to_meet(static_cast<int>(size()));
  std::vector<Promise<int>> waiting;
  for (unsigned agent = 0; agent < size(); ++agent) {
    waiting.push_back(bound(agent).post_task([&] {
      meet(to_meet);
      return scheduler().post_task([] { return 7; }).get();
    }));
  }
  int refused = 0;
  for (const auto& task : waiting) {
    ASSERT_TRUE(settles(task)) << "it hangs";
    refused += task.status() == PromiseStatus::rejected ? 1 : 0;
    if (task.status() == PromiseStatus::rejected) {
      EXPECT_TRUE(test::is<NotAllowedError>(task.reason()));
    }
  }
  EXPECT_GE(refused, 1);
}

// All wait, but one of them within blocking(): a reserve runs it.
TEST_P(ClusterWaiting, get_when_all_wait_and_a_reserve_picks_then_all_have_their_values) {
  Countdown to_meet(static_cast<int>(size()));
  std::vector<Promise<int>> waiting;
  for (unsigned agent = 0; agent < size(); ++agent) {
    waiting.push_back(bound(agent).post_task([&] {
      meet(to_meet);
      const auto task = scheduler().post_task([] { return 7; });
      return blocking([&task] { return task.get(); });
    }));
  }
  for (const auto& task : waiting) {
    ASSERT_TRUE(settles(task)) << "it hangs";
    EXPECT_EQ(task.status(), PromiseStatus::fulfilled);
  }
}

// Each wait ends by itself while the next one begins: none is refused.
TEST_P(ClusterWaiting, get_when_agents_wait_in_turn_then_never_refused) {
  std::vector<Promise<int>> chains;
  for (unsigned agent = 0; agent + 1 < size(); ++agent) {
    chains.push_back(bound(agent).post_task([this] {
      int sum = 0;
      for (int i = 0; i < 300; ++i) sum += scheduler().post_task([] { return 1; }).get();
      return sum;
    }));
  }
  for (const auto& chain : chains) {
    ASSERT_TRUE(settles(chain)) << "it hangs";
    EXPECT_EQ(chain.get(), 300);
  }
}

/// A drain is told of after a moment, here.
class ClusterDrainWatch : public ClusterWaiting {
 protected:
  void SetUp() override {
    former = set_drain_patience(10ms);
    ClusterWaiting::SetUp();
  }
  void TearDown() override {
    ClusterWaiting::TearDown();
    set_drain_patience(former);
  }
  /// Closes until something is told; lets it end then.
  template <class LetGo>
  std::string told_while_draining(const CloseMode& mode, LetGo let_go) {
    std::thread closer([&] { cluster().close(mode); });
    std::vector<RecordedError> told;
    EXPECT_TRUE(comes_true([&] {
      told = errors.take();
      return !told.empty();
    }));
    let_go();
    closer.join();
    if (told.size() != 1) return "not once";
    EXPECT_EQ(told[0].origin, ErrorOrigin::close);
    return told[0].what;
  }

  std::chrono::nanoseconds former{};
};
INSTANTIATE_TEST_SUITE_P(Sizes, ClusterDrainWatch, several_agents, size_name);

TEST_P(ClusterDrainWatch, close_when_a_task_waits_for_a_suspended_scheduler_then_it_is_told_once) {
  scheduler().suspend();
  test::Gate begun;
  const auto waits = bound(0).post_task([&] {
    const auto task = scheduler().post_task([] { return 7; });
    begun.open();
    return task.get();
  });
  begun.wait();
  // Each other agent has looked for what is more urgent: one of them has set the task aside.
  for (unsigned agent = 1; agent < size(); ++agent) {
    bound(agent).post_task([] {}, {.priority = background}).get();
  }
  const auto told = told_while_draining(CloseMode::drain(), [this] { scheduler().resume(); });
  EXPECT_THAT(told, testing::HasSubstr("agent 0 waits, in a task, for a stealable task"));
  EXPECT_THAT(told, testing::HasSubstr("a suspended scheduler"));
  EXPECT_EQ(waits.get(), 7);
}

TEST_P(ClusterDrainWatch, close_when_it_waits_for_a_suspended_bound_task_then_it_is_told_once) {
  const auto suspended = bound(1).with_ceiling(background);
  suspended.suspend();
  suspended.post(tracked([] {}));
  auto mode = CloseMode::drain();
  mode.wait_for_delayed = true;
  EXPECT_THAT(told_while_draining(mode, [&] { suspended.resume(); }),
              testing::HasSubstr("tasks of a suspended scheduler wait for its resume"));
}

TEST_P(ClusterDrainWatch, close_when_it_waits_for_suspended_tasks_then_it_is_told_once) {
  scheduler().suspend();
  scheduler().post(tracked([] {}));
  auto mode = CloseMode::drain();
  mode.wait_for_delayed = true;
  EXPECT_THAT(told_while_draining(mode, [this] { scheduler().resume(); }),
              testing::HasSubstr("tasks of a suspended scheduler wait for its resume"));
}

// There is nothing to tell of a task that takes long.
TEST_P(ClusterDrainWatch, close_when_a_task_takes_long_then_nothing_is_told) {
  HeldAgents held(cluster());
  const auto never = later<void>();
  std::thread closer([this] { cluster().close(CloseMode::drain()); });
  EXPECT_FALSE(never.promise.wait_for(100ms));
  held.let_go();
  closer.join();
  never.resolve();
}

// Rule: CLU-5. What a task settles that goes on after a co_await is not known, so such a circle is
// refused only when all agents are in it.
class ClusterWaitingAfterAwait : public ClusterDrainWatch {
 protected:
  /// Waits, on an agent, for another task, after it has awaited something.
  static Promise<int> wait_after_await(Promise<void> before, Countdown& to_meet,
                                       std::optional<Promise<int>>& other) {
    co_await before;
    meet(to_meet);
    co_return other->get();
  }
  void begin(std::optional<Promise<int>>& waits, std::optional<Promise<int>>& other) {
    waits = scheduler().post_task(
        [this, &other] { return wait_after_await(start.promise, to_meet, other); });
  }
  static Promise<int> await_end(Promise<void> end) {
    co_await end;
    co_return 7;
  }
  /// Two that wait for tasks of which nobody knows when they go on: as in a circle, but these can.
  void begin_waits_for_suspended() {
    for (auto* const awaited : {&third, &fourth}) {
      *awaited = scheduler().post_task([this] { return await_end(end.promise); });
    }
    begin(first, third);
    begin(second, fourth);
    start.resolver.resolve();
  }
  void end_waits() {
    end.resolver.resolve();
    ASSERT_TRUE(settles(*first) && settles(*second)) << "it hangs";
    EXPECT_EQ(first->get() + second->get(), 14);
  }

  PromiseWithResolver<void> start = Promise<void>::with_resolver();
  PromiseWithResolver<void> end = Promise<void>::with_resolver();
  Countdown to_meet{2};
  std::optional<Promise<int>> first;
  std::optional<Promise<int>> second;
  std::optional<Promise<int>> third;
  std::optional<Promise<int>> fourth;
};
class ClusterOfTwoWaiting : public ClusterWaitingAfterAwait {};
INSTANTIATE_TEST_SUITE_P(Two, ClusterOfTwoWaiting, testing::Values(2U), size_name);
class ClusterOfMoreWaiting : public ClusterWaitingAfterAwait {};
INSTANTIATE_TEST_SUITE_P(More, ClusterOfMoreWaiting, testing::Values(3U, many_agents()), size_name);

TEST_P(ClusterOfTwoWaiting, get_when_all_agents_wait_for_each_other_then_refused) {
  begin(first, second);
  begin(second, first);
  start.resolver.resolve();
  EXPECT_EQ(count_refused(*first, *second), 2);
}

// While a reserve runs, it could run what they wait for. It rests once nobody is in blocking(),
// most often before it has run that; then one of the waits has to be refused.
TEST_P(ClusterOfTwoWaiting, get_when_the_reserve_that_ran_goes_to_rest_then_no_wait_is_endless) {
  test::Gate reserve_runs;
  test::Gate both_have_posted;
  const auto wait_for_another = [this] {
    const auto other = scheduler().post_task([] { return 1; }, {.priority = background});
    return other.get();
  };
  first = scheduler().post_task([&] {
    blocking([&] { reserve_runs.wait(); });
    return wait_for_another();
  });
  second = scheduler().post_task([&] {
    reserve_runs.wait();
    return wait_for_another();
  });
  scheduler().post([&] {
    reserve_runs.open();
    both_have_posted.wait();
  });
  wait_until([this] { return cluster().metrics().levels.of(background).waiting == 2; });
  both_have_posted.open();
  EXPECT_TRUE(settles(*first));
  EXPECT_TRUE(settles(*second));
}

TEST_P(ClusterOfMoreWaiting, get_when_two_wait_for_what_is_suspended_then_it_is_told_once) {
  begin_waits_for_suspended();
  std::vector<RecordedError> told;
  EXPECT_TRUE(comes_true([&] {
    told = errors.take();
    return !told.empty();
  }));
  EXPECT_FALSE(first->wait_for(50ms));
  for (auto& error : errors.take()) told.push_back(std::move(error));
  end_waits();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].origin, ErrorOrigin::wait);
  EXPECT_THAT(
      told[0].what,
      testing::MatchesRegex("several agents have waited for long.*: agent . waits, in a task, for "
                            "a stealable task; agent . waits, in a task, for a stealable task"));
}

// A drain finds the same, and tells it as what keeps it.
TEST_P(ClusterOfMoreWaiting, close_when_two_wait_for_what_is_suspended_then_the_drain_tells) {
  begin_waits_for_suspended();
  wait_until([this] { return to_meet.left() == 0; });
  std::thread closer([this] { cluster().close(CloseMode::drain()); });
  std::vector<RecordedError> told;
  EXPECT_TRUE(comes_true([&] {
    for (auto& error : errors.take()) told.push_back(std::move(error));
    return std::ranges::any_of(
        told, [](const RecordedError& error) { return error.origin == ErrorOrigin::close; });
  }));
  end_waits();
  closer.join();
  // The agents themselves may tell of their waits, before the drain does or after it.
  for (const auto& error : errors.take()) EXPECT_EQ(error.origin, ErrorOrigin::wait);
}

// One that waits for long is nothing to tell of: what it waits for may take long.
TEST_P(ClusterOfMoreWaiting, get_when_one_waits_long_then_nothing_is_told) {
  auto awaited = Promise<int>::with_resolver();
  const auto waits = bound(0).post_task([&] { return awaited.promise.get(); });
  EXPECT_FALSE(waits.wait_for(100ms));
  awaited.resolver.resolve(7);
  EXPECT_EQ(waits.get(), 7);
  EXPECT_TRUE(errors.take().empty());
}

}  // namespace
}  // namespace heist::support
