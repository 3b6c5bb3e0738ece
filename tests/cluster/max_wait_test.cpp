// Rules: WAIT-1, WAIT-3, WAIT-4, WAIT-6 of stealable tasks. What has waited for its maximum is
//         picked next by whichever agent picks.
#include <gmock/gmock.h>

#include "cluster_fixture.hpp"

namespace heist::support {

using namespace detail;
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr std::chrono::nanoseconds most = 1ms;

/// Background tasks may wait for a millisecond. One agent is free, after all that was posted is
/// late.
class ClusterMaxWait : public ClusterFixture, public testing::WithParamInterface<unsigned> {
 protected:
  void SetUp() override { start_with({.background = most}); }
  void start_with(MaxWait waits) {
    start({.agents = GetParam(), .loop = {.max_wait = waits}});
    held_.emplace(cluster());
  }
  void TearDown() override {
    held_.reset();
    ClusterFixture::TearDown();
  }

  static void wait_for(std::chrono::nanoseconds time) {
    const auto start = std::chrono::steady_clock::now();
    wait_until([&] { return std::chrono::steady_clock::now() > start + time; });
  }
  /// So that what was posted before has waited for its maximum, and for a sixteenth.
  static void let_time_pass() { wait_for(2 * most); }
  /// So that an agent looks again, and marks what it has: a sixteenth. Not a whole maximum.
  static void let_it_look_again() { wait_for(most / 8); }
  void post(const Scheduler& to, const char* label, TaskPriority priority) {
    to.post(note(label), {.priority = priority});
  }
  /// What the first agent alone runs of what is tracked.
  std::vector<std::string> run_on_first() {
    held_->let_go(0);
    EXPECT_TRUE(comes_true([this] { return callbacks.alive() == 0; }));
    bound(0).post_task([] {}).get();  // after all of it
    return trace.take();
  }
  HeldAgents& held() { return *held_; }

 private:
  std::optional<HeldAgents> held_;
};

TEST_P(ClusterMaxWait, task_from_outside_when_it_is_late_then_picked_before_higher_ones) {
  post(scheduler(), "late", background);
  let_time_pass();
  post(scheduler(), "visible", user_visible);
  post(scheduler(), "blocking", user_blocking);
  EXPECT_THAT(run_on_first(), ElementsAre("late", "blocking", "visible"));
}

TEST_P(ClusterMaxWait, tasks_when_their_priority_has_no_maximum_then_they_wait) {
  post(scheduler(), "visible", user_visible);
  let_time_pass();
  post(scheduler(), "blocking", user_blocking);
  EXPECT_THAT(run_on_first(), ElementsAre("blocking", "visible"));
}

TEST_P(ClusterMaxWait, own_post_of_a_task_when_it_is_late_then_picked_before_higher_ones) {
  const auto body = [this] {
    post(scheduler(), "late", background);
    let_time_pass();
    post(scheduler(), "blocking", user_blocking);
  };
  scheduler().post(tracked(body), {.priority = user_blocking});
  post(scheduler(), "older", user_blocking);
  EXPECT_THAT(run_on_first(), ElementsAre("late", "older", "blocking"));
}

TEST_P(ClusterMaxWait, post_of_another_agent_when_it_is_late_then_taken_from_there) {
  test::Gate posted;
  test::Gate over;
  bound(1).post(
      [&] {
        post(scheduler(), "late", background);
        posted.open();
        over.wait();
      },
      {.priority = user_blocking});
  held().let_go(1);
  posted.wait();
  let_time_pass();
  post(scheduler(), "blocking", user_blocking);
  EXPECT_THAT(run_on_first(), ElementsAre("late", "blocking"));
  EXPECT_EQ(cluster().stats().stolen, 1U);
  over.open();
  bound(1).post_task([] {}).get();  // it is out of there
}

TEST_P(ClusterMaxWait, task_of_a_signal_when_it_is_late_then_picked_before_higher_ones) {
  TaskController other(background);
  TaskController controller(background);
  scheduler().post(note("younger queue"), {.signal = other.signal()});
  scheduler().post(note("late"), {.signal = controller.signal()});
  other.set_priority(user_visible);
  let_time_pass();
  post(scheduler(), "blocking", user_blocking);
  EXPECT_THAT(run_on_first(), ElementsAre("late", "blocking", "younger queue"));
}

TEST_P(ClusterMaxWait, tasks_of_signals_when_a_later_queue_has_the_older_one_then_that_is_first) {
  TaskController first(background);
  TaskController second(background);
  TaskController moved(user_visible);
  scheduler().post(note("of the last ticket"), {.signal = moved.signal()});
  let_time_pass();
  scheduler().post(note("of the first"), {.signal = first.signal()});
  scheduler().post(note("of the second"), {.signal = second.signal()});
  moved.set_priority(background);
  let_time_pass();
  post(scheduler(), "blocking", user_blocking);
  EXPECT_THAT(run_on_first(),
              ElementsAre("of the last ticket", "of the first", "of the second", "blocking"));
}

TEST_P(ClusterMaxWait, priority_when_it_has_changed_then_the_present_one_says_how_long) {
  TaskController sooner(user_visible);
  TaskController never(background);
  scheduler().post(note("sooner"), {.signal = sooner.signal()});
  scheduler().post(note("never"), {.signal = never.signal()});
  let_time_pass();
  sooner.set_priority(background);
  never.set_priority(user_visible);
  post(scheduler(), "blocking", user_blocking);
  EXPECT_THAT(run_on_first(), ElementsAre("sooner", "blocking", "never"));
}

TEST_P(ClusterMaxWait, continuation_when_it_is_late_then_picked_before_higher_ones) {
  const auto awaited = later<void>();
  const auto waiter = [this, promise = awaited.promise]() -> Promise<void> {
    co_await promise;
    trace.add("late");
  };
  const auto settler = [this, awaited] {
    awaited.resolve();
    let_time_pass();
    post(scheduler(), "blocking", user_blocking);
  };
  const auto end = scheduler().post_task(waiter, {.priority = background});
  scheduler().post(tracked(settler), {.priority = background});
  EXPECT_THAT(run_on_first(), ElementsAre("late", "blocking"));
  EXPECT_TRUE(settles(end));
}

TEST_P(ClusterMaxWait, tasks_when_several_are_late_then_the_one_whose_maximum_ended_first) {
  TaskController controller(background);
  const auto body = [&] {
    post(scheduler(), "1 in a ring", background);
    let_time_pass();
    scheduler().post(note("2 of a signal"), {.signal = controller.signal()});
    let_time_pass();
    on_thread([this] { post(scheduler(), "3 in a bin", background); });
    let_time_pass();
    post(scheduler(), "blocking", user_blocking);
  };
  bound(0).post(tracked(body), {.priority = user_blocking});
  EXPECT_THAT(run_on_first(),
              ElementsAre("1 in a ring", "2 of a signal", "3 in a bin", "blocking"));
}

TEST_P(ClusterMaxWait, tasks_when_more_are_late_than_a_ring_holds_then_all_of_them_in_order) {
  constexpr int count = 600;
  for (int i = 0; i < count; ++i) post(scheduler(), "late", background);
  let_time_pass();
  post(scheduler(), "blocking", user_blocking);
  auto ran = run_on_first();
  ASSERT_EQ(ran.size(), count + 1U);
  EXPECT_EQ(ran.back(), "blocking");
}

TEST_P(ClusterMaxWait,
       bound_and_stealable_when_both_are_late_then_the_one_whose_maximum_ended_first) {
  const auto first = [this] {
    post(scheduler(), "stealable 1", background);
    post(bound(0), "bound 2", background);
    let_it_look_again();
  };
  const auto second = [this] {
    post(scheduler(), "stealable 3", background);
    let_time_pass();
  };
  bound(0).post(tracked(first), {.priority = user_blocking});
  bound(0).post(tracked(second), {.priority = user_blocking});
  bound(0).post(note("blocking"), {.priority = user_blocking});
  EXPECT_THAT(run_on_first(), ElementsAre("stealable 1", "bound 2", "stealable 3", "blocking"));
}

TEST_P(ClusterMaxWait, late_task_when_aborted_then_it_never_starts_and_the_next_one_is_picked) {
  AbortController controller;
  scheduler().post(note("aborted"), {.signal = controller.signal(), .priority = background});
  post(scheduler(), "late", background);
  let_time_pass();
  controller.abort();
  post(scheduler(), "blocking", user_blocking);
  EXPECT_THAT(run_on_first(), ElementsAre("late", "blocking"));
}

TEST_P(ClusterMaxWait, late_task_when_its_scheduler_was_suspended_then_its_wait_has_gone_on) {
  const Scheduler low = scheduler().with_ceiling(background);
  low.post(note("late"));
  let_time_pass();
  low.suspend();
  const auto body = [this, low] {
    low.resume();
    post(scheduler(), "blocking", user_blocking);
    let_it_look_again();
  };
  post(scheduler(), "meanwhile", user_blocking);
  bound(0).post(tracked(body), {.priority = user_visible});
  EXPECT_THAT(run_on_first(), ElementsAre("meanwhile", "late", "blocking"));
}

INSTANTIATE_TEST_SUITE_P(Sizes, ClusterMaxWait, several_agents, size_name);

/// Every agent has something more urgent to do, until what waits in the background has run.
class ClusterUnderFlood : public ClusterFixture, public testing::WithParamInterface<unsigned> {
 protected:
  void start_flood(MaxWait waits) {
    start({.agents = GetParam(), .loop = {.max_wait = waits}});
    for (unsigned task = 0; task < 3 * size(); ++task) post_flood();
  }
  void post_flood() {
    if (is_over_.load()) return;
    scheduler().post(tracked([this] { post_flood(); }), {.priority = user_blocking});
  }
  void end_flood() {
    is_over_.store(true);
    EXPECT_TRUE(comes_true([this] { return callbacks.alive() == 0; }));
    for (unsigned agent = 0; agent < size(); ++agent) bound(agent).post_task([] {}).get();
  }

 private:
  std::atomic<bool> is_over_{false};
};

TEST_P(ClusterUnderFlood, background_when_it_has_a_maximum_then_all_of_it_runs) {
  start_flood({.background = 1ms});
  const auto nothing = [] {};
  TaskController controller(background);
  std::vector<Promise<void>> all;
  all.push_back(scheduler().post_task(nothing, {.priority = background}));
  all.push_back(scheduler().post_task(nothing, {.signal = controller.signal()}));
  all.push_back(scheduler().post_task(nothing, {.priority = background, .delay = Delay(3ms)}));
  all.push_back(scheduler().post_task(
      []() -> Promise<void> {
        for (int turn = 0; turn < 3; ++turn) co_await heist::yield();
      },
      {.priority = background}));
  all.push_back(bound(size() - 1).post_task(nothing, {.priority = background}));
  for (const auto& each : all) EXPECT_TRUE(settles(each));
  end_flood();
}

INSTANTIATE_TEST_SUITE_P(Sizes, ClusterUnderFlood, sizes, size_name);

}  // namespace
}  // namespace heist::support
