// Which level a task runs at, and how it moves when its signal's priority changes.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/posted_from.hpp"
#include "support/sleeping_agent.hpp"
#include "support/threads.hpp"

namespace heist {
namespace {

using namespace support;  // NOLINT(google-build-using-namespace): the whole of it is for tests
using testing::ElementsAre;

/// Posts one task of each static priority, to see between which of them another one runs.
class LevelsFixture : public VirtualLoopFixture {
 protected:
  void post_landmarks() {
    post("ub", {.priority = user_blocking});
    post("uv", {.priority = user_visible});
    post("bg", {.priority = background});
  }
};

class Pri2 : public LevelsFixture {};

// Rule: PRI-2
TEST_F(Pri2, post_when_without_options_then_user_visible) {
  post("task");
  post_landmarks();
  EXPECT_THAT(run(), ElementsAre("ub", "task", "uv", "bg"));
}

// Rule: PRI-2
TEST_F(Pri2, WPT_ABT_06_post_when_the_signal_is_a_plain_abort_signal_then_user_visible) {
  const AbortController controller;
  post("task", {.signal = controller.signal()});
  post_landmarks();
  EXPECT_THAT(run(), ElementsAre("ub", "task", "uv", "bg"));
}

// Rule: PRI-2
TEST_F(Pri2, post_when_the_signal_has_a_priority_then_that) {
  const TaskController low(background);
  const TaskController middle(user_visible);
  const TaskController high(user_blocking);
  post("low", {.signal = low.signal()});
  post("middle", {.signal = middle.signal()});
  post("high", {.signal = high.signal()});
  post_landmarks();
  EXPECT_THAT(run(), ElementsAre("high", "ub", "middle", "uv", "low", "bg"));
}

// Rule: PRI-2
TEST_F(Pri2, WPT_ORD_08_post_when_signal_and_explicit_priority_then_the_explicit_one) {
  const TaskController controller(background);
  post_landmarks();
  post("task", {.signal = controller.signal(), .priority = user_blocking});
  EXPECT_THAT(run(), ElementsAre("ub", "task", "uv", "bg"));
}

// Rule: PRI-2
TEST_F(Pri2, set_priority_when_the_task_has_an_explicit_one_then_it_stays) {
  TaskController controller(background);
  post("task", {.signal = controller.signal(), .priority = user_visible});
  post_landmarks();
  controller.set_priority(user_blocking);
  EXPECT_THAT(run(), ElementsAre("ub", "task", "uv", "bg"));
}

// Rule: PRI-2
TEST_F(Pri2, set_priority_when_the_signal_was_kept_as_an_abort_signal_then_its_tasks_still_move) {
  TaskController controller(background);
  const AbortSignal plain_handle = controller.signal();
  post("task", {.signal = plain_handle});
  post_landmarks();
  controller.set_priority(user_blocking);
  EXPECT_THAT(run(), ElementsAre("task", "ub", "uv", "bg"));
}

/// The parameter is where set_priority is called; see also the two ways the tasks can wait there.
class Pri3 : public PostedFrom {
 protected:
  void set_priority(TaskController& controller, TaskPriority priority) {
    from_origin([&] { controller.set_priority(priority); });
  }
};
INSTANTIATE_TEST_SUITE_P(Origins, Pri3, every_origin, origin_name);

// Rule: PRI-3
TEST_P(Pri3, WPT_PRI_01_set_priority_when_tasks_are_queued_then_the_next_pick_uses_it) {
  TaskController controller;
  for (const auto* label : {"1", "2", "3", "4", "5"}) post(label, {.signal = controller.signal()});
  post("ub", {.priority = user_blocking});
  post("uv", {.priority = user_visible});
  arrive();
  set_priority(controller, background);
  EXPECT_THAT(run(), ElementsAre("ub", "uv", "1", "2", "3", "4", "5"));
}

// Rule: PRI-3
TEST_P(Pri3, set_priority_when_tasks_are_still_on_their_way_then_the_next_pick_uses_it) {
  TaskController controller;
  on_thread([&] {
    post("1", {.signal = controller.signal()});
    post("uv");
    post("2", {.signal = controller.signal()});
  });
  set_priority(controller, background);
  EXPECT_THAT(run(), ElementsAre("uv", "1", "2"));
}

// Rule: PRI-3
TEST_P(Pri3, set_priority_when_tasks_come_before_and_after_then_all_are_at_the_new_level) {
  TaskController controller;
  post("before, arrived", {.signal = controller.signal()});
  arrive();
  post("before, on its way", {.signal = controller.signal()});
  set_priority(controller, user_blocking);
  post("after", {.signal = controller.signal()});
  post("uv");
  EXPECT_THAT(run(), ElementsAre("before, arrived", "before, on its way", "after", "uv"));
}

// Rule: PRI-3
TEST_P(Pri3, WPT_PRI_02_set_priority_when_one_of_many_signals_then_only_its_tasks_move) {
  std::vector<std::unique_ptr<TaskController>> controllers;
  for (int i = 0; i < 5; ++i) {
    controllers.push_back(std::make_unique<TaskController>(background));
    post(std::to_string(i), {.signal = controllers.back()->signal()});
  }
  set_priority(*controllers[2], user_blocking);
  EXPECT_THAT(run(), ElementsAre("2", "0", "1", "3", "4"));
}

// Rule: PRI-3
TEST_P(Pri3, WPT_PRI_03_set_priority_when_repeated_between_runs_then_each_reorders) {
  TaskController controller;
  for (const auto priority : {background, user_blocking, background}) {
    post("dynamic", {.signal = controller.signal()});
    post("uv");
    set_priority(controller, priority);
    EXPECT_EQ(controller.signal().priority(), priority);
    if (priority == background) {
      EXPECT_THAT(run(), ElementsAre("uv", "dynamic"));
    } else {
      EXPECT_THAT(run(), ElementsAre("dynamic", "uv"));
    }
  }
}

// Rule: PRI-3
TEST_P(Pri3, WPT_PRI_04_set_priority_when_changed_three_times_then_only_the_last_counts) {
  TaskController controller;
  post("dynamic", {.signal = controller.signal()});
  post("ub", {.priority = user_blocking});
  from_origin([&] {
    controller.set_priority(background);
    controller.set_priority(user_visible);
    controller.set_priority(user_blocking);
  });
  EXPECT_THAT(run(), ElementsAre("dynamic", "ub"));
}

// Rule: PRI-3
TEST_P(Pri3, set_priority_when_the_signal_has_tasks_on_several_loops_then_it_holds_on_each) {
  TaskController controller;
  std::vector<std::unique_ptr<EventLoop>> loops;
  for (int i = 0; i < 4; ++i) {
    loops.push_back(
        std::make_unique<EventLoop>(EventLoopOptions{.clock = LoopClock::virtual_time}));
    loops.back()->scheduler().post(note("uv"));
    loops.back()->scheduler().post(note("dynamic"), {.signal = controller.signal()});
    if (i % 2 == 0) static_cast<void>(loops.back()->pending());
  }
  set_priority(controller, user_blocking);
  for (auto& each : loops) {
    each->run_until_idle();
    EXPECT_THAT(trace.take(), ElementsAre("dynamic", "uv"));
  }
}

class Pri3While : public VirtualLoopFixture {};

// Rule: PRI-3
TEST_F(Pri3While,
       set_priority_when_another_thread_calls_it_during_a_task_then_the_next_pick_uses_it) {
  TaskController controller;
  in_task([&] {
    post("dynamic 1", {.signal = controller.signal()});
    post("uv");
    post("dynamic 2", {.signal = controller.signal()});
    on_thread([&] { controller.set_priority(background); });
  });
  EXPECT_THAT(run(), ElementsAre("uv", "dynamic 1", "dynamic 2"));
}

// Rule: PRI-3
TEST_F(Pri3While, post_when_a_listener_posts_during_the_change_then_the_task_has_the_new_level) {
  TaskController controller(background);
  post("uv");
  const auto subscription = controller.signal().on_priority_change(
      [&] { post("dynamic", {.signal = controller.signal()}); });
  controller.set_priority(user_blocking);
  EXPECT_THAT(run(), ElementsAre("dynamic", "uv"));
}

// Rule: PRI-3
TEST_F(Pri3While, WPT_PRI_10_pick_when_within_a_listener_of_the_change_then_uses_the_new_level) {
  TaskController controller(background);
  post("dynamic", {.signal = controller.signal()});
  post("uv");
  arrive();
  std::vector<std::string> seen;
  const auto subscription = controller.signal().on_priority_change([&] { seen = run(); });
  controller.set_priority(user_blocking);
  EXPECT_THAT(seen, ElementsAre("dynamic", "uv"));
}

// Rule: PRI-3
TEST_F(Pri3While, set_priority_when_the_controller_is_gone_at_once_then_the_change_still_holds) {
  {
    TaskController controller;
    post("dynamic", {.signal = controller.signal()});
    post("uv");
    arrive();
    controller.set_priority(background);
  }
  EXPECT_THAT(run(), ElementsAre("uv", "dynamic"));
}

class Pri4 : public VirtualLoopFixture {};

// Rule: PRI-4
TEST_F(
    Pri4,
    WPT_PRI_04_set_priority_when_raised_then_the_older_task_runs_before_a_younger_one_of_that_level) {
  TaskController controller(background);
  post("older", {.signal = controller.signal()});
  post("younger", {.priority = user_blocking});
  controller.set_priority(user_blocking);
  EXPECT_THAT(run(), ElementsAre("older", "younger"));
}

// Rule: PRI-4
TEST_F(Pri4, WPT_PRI_05_set_priority_when_raised_or_lowered_then_tasks_slot_in_between_by_age) {
  for (const auto& [from, to] :
       {std::pair(background, user_visible), std::pair(user_blocking, background)}) {
    TaskController controller(from);
    post("1", {.priority = to});
    post("2", {.signal = controller.signal()});
    post("3", {.priority = to});
    post("4", {.signal = controller.signal()});
    post("5", {.priority = to});
    controller.set_priority(to);
    EXPECT_THAT(run(), ElementsAre("1", "2", "3", "4", "5"));
  }
}

// Rule: PRI-4
TEST_F(Pri4, WPT_SP_02_set_priority_when_several_signals_meet_at_a_level_then_all_merge_by_age) {
  TaskController low(background);
  TaskController high(user_blocking);
  post("1", {.signal = low.signal()});
  post("2", {.signal = high.signal()});
  post("3", {.priority = user_visible});
  post("4", {.signal = high.signal()});
  post("5", {.signal = low.signal()});
  low.set_priority(user_visible);
  high.set_priority(user_visible);
  EXPECT_THAT(run(), ElementsAre("1", "2", "3", "4", "5"));
}

// Rule: PRI-4
TEST_F(Pri4, set_priority_when_moved_and_moved_back_then_the_order_is_as_if_never_moved) {
  TaskController controller;
  post("1");
  post("2", {.signal = controller.signal()});
  post("3");
  arrive();
  controller.set_priority(user_blocking);
  arrive();
  controller.set_priority(background);
  arrive();
  controller.set_priority(user_visible);
  EXPECT_THAT(run(), ElementsAre("1", "2", "3"));
}

// Rule: PRI-4
TEST_F(Pri4, set_priority_when_some_tasks_ran_already_then_the_rest_merges_by_age) {
  TaskController controller(user_blocking);
  post("1", {.signal = controller.signal()});
  post("2", {.priority = background});
  post("3", {.signal = controller.signal()});
  EXPECT_TRUE(loop.run_one());
  controller.set_priority(background);
  EXPECT_THAT(run(), ElementsAre("1", "2", "3"));
}

class Pri7 : public VirtualLoopFixture {};

// Rule: PRI-7
TEST_F(Pri7, WPT_PRI_09_set_priority_when_the_value_is_the_same_then_the_order_does_not_change) {
  TaskController controller;
  post("1");
  post("2", {.signal = controller.signal()});
  post("3");
  controller.set_priority(user_visible);
  EXPECT_THAT(run(), ElementsAre("1", "2", "3"));
}

// Rule: PRI-7
TEST_F(Pri7, WPT_PRI_09_set_priority_when_the_value_is_the_same_then_the_loop_is_sent_nothing) {
  SleepingAgent agent;
  TaskController controller;
  agent.scheduler().post_task([] {}, {.signal = controller.signal()}).get();
  agent.fall_asleep();
  const auto wakeups = agent.stats().wakeups_sent;
  controller.set_priority(user_visible);
  EXPECT_EQ(agent.stats().wakeups_sent, wakeups);
  controller.set_priority(background);
  EXPECT_EQ(agent.stats().wakeups_sent, wakeups + 1);
}

}  // namespace
}  // namespace heist
