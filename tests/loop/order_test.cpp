// Enqueue order: which of several runnable tasks starts first.
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "heist/loop/drive_scope.hpp"
#include "heist/loop/loop_core.hpp"
#include "support/posted_from.hpp"
#include "support/threads.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using namespace support;  // NOLINT(google-build-using-namespace): the whole of it is for tests
using testing::ElementsAre;
using testing::ElementsAreArray;

class Ord1 : public VirtualLoopFixture {
 protected:
  std::uint64_t next_enqueue_order() {
    loop.needs_driver();
    const DriveScope driving(loop.core());
    return loop.core().on_agent().next_enqueue_order;
  }
};

// Rule: ORD-1
TEST_F(Ord1, loop_when_new_then_enqueue_order_begins_at_1) { EXPECT_EQ(next_enqueue_order(), 1U); }

// Rule: ORD-1
TEST_F(Ord1, loop_when_its_queues_ran_empty_then_orders_are_not_given_again) {
  for (std::uint64_t round = 1; round <= 3; ++round) {
    post("a");
    post("b", {.priority = background});
    run();
    EXPECT_EQ(next_enqueue_order(), 2 * round + 1);
  }
}

// Rule: ORD-1
TEST_F(Ord1, WPT_ORD_03_schedulers_when_of_one_loop_then_share_its_order) {
  const Scheduler second = loop.create_scheduler();
  scheduler.post(note("first 1"));
  second.post(note("second 1"));
  scheduler.post(note("first 2"));
  second.post(note("second 2"));
  EXPECT_THAT(run(), ElementsAre("first 1", "second 1", "first 2", "second 2"));
}

class Ord2 : public VirtualLoopFixture {};
class Ord2From : public PostedFrom {};
INSTANTIATE_TEST_SUITE_P(Origins, Ord2From, every_origin, origin_name);

// Rule: ORD-2
TEST_P(Ord2From, WPT_ORD_02_post_when_priorities_are_equal_then_runs_in_order_of_posting) {
  for (const auto priority : {background, user_visible, user_blocking}) {
    from_origin([&] {
      for (const auto* label : {"a", "b", "c", "d"}) post(label, {.priority = priority});
    });
    EXPECT_THAT(run(), ElementsAre("a", "b", "c", "d"));
  }
}

// Rule: ORD-2
TEST_P(Ord2From, post_when_tasks_are_of_every_kind_then_they_share_one_order) {
  const TaskController controller;
  from_origin([&] {
    scheduler.post(note("plain"));
    static_cast<void>(post_task("with a promise"));
    scheduler.post(note("dynamic"), {.signal = controller.signal()});
    post("static", {.priority = user_visible});
    static_cast<void>(post_task("dynamic with a promise", {.signal = controller.signal()}));
    post("controlled, static", {.signal = AbortController().signal()});
  });
  EXPECT_THAT(run(), ElementsAre("plain", "with a promise", "dynamic", "static",
                                 "dynamic with a promise", "controlled, static"));
}

// Rule: ORD-2
TEST_F(Ord2, post_when_threads_take_turns_then_runs_in_order_of_turns) {
  Worker a;
  Worker b;
  for (const auto* label : {"1", "3", "5"}) {
    a.run([&] { scheduler.post(note(label)); });
    b.run([&] { scheduler.post(note(std::to_string(std::stoi(label) + 1))); });
  }
  EXPECT_THAT(run(), ElementsAre("1", "2", "3", "4", "5", "6"));
}

// Rule: ORD-2
TEST_F(Ord2, post_when_many_threads_take_random_turns_then_runs_in_order_of_turns) {
  constexpr int turns = 300;
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < 5; ++i) workers.push_back(std::make_unique<Worker>());
  std::mt19937 random(20240501);  // NOLINT(bugprone-random-generator-seed): repeatable
  std::vector<std::string> posted;
  for (int turn = 0; turn < turns; ++turn) {
    posted.push_back(std::to_string(turn));
    workers[random() % workers.size()]->run([&] { scheduler.post(note(posted.back())); });
    if (random() % 16 == 0) loop.poll();
  }
  EXPECT_THAT(run(), ElementsAreArray(posted));
}

// Rule: ORD-2
TEST_F(Ord2, post_when_from_a_task_after_a_post_from_another_thread_then_runs_after_it) {
  in_task([&] {
    on_thread([&] { post("other thread"); });
    post("task");
  });
  EXPECT_THAT(run(), ElementsAre("other thread", "task"));
}

// Rule: ORD-2
TEST_F(Ord2, post_when_from_a_task_before_a_post_from_another_thread_then_runs_before_it) {
  in_task([&] {
    post("task 1");
    on_thread([&] { post("other thread"); });
    post("task 2");
  });
  EXPECT_THAT(run(), ElementsAre("task 1", "other thread", "task 2"));
}

// Rule: ORD-2
TEST_F(Ord2, post_when_a_task_of_another_loop_posts_here_then_order_is_that_of_real_time) {
  EventLoop other_loop({.clock = LoopClock::virtual_time});
  post("before");
  other_loop.scheduler().post([&] { post("from the other loop"); });
  other_loop.run_until_idle();
  post("after");
  EXPECT_THAT(run(), ElementsAre("before", "from the other loop", "after"));
}

// Rule: ORD-2
TEST_F(Ord2, post_when_by_the_destructor_of_an_aborted_callback_then_after_what_was_posted_before) {
  AbortController controller;
  scheduler.post([last_words = AtDestruction([&] { post("destructor"); })] {},
                 {.signal = controller.signal()});
  post("before");
  controller.abort();
  EXPECT_THAT(run(), ElementsAre("before", "destructor"));
}

class Ord3 : public VirtualLoopFixture {};
class Ord3From : public PostedFrom {};
INSTANTIATE_TEST_SUITE_P(Origins, Ord3From, every_origin, origin_name);

// Rule: ORD-3, PRI-1
TEST_P(Ord3From, WPT_ORD_01_pick_when_priorities_differ_then_the_highest_level_first) {
  from_origin([&] {
    post("bg 1", {.priority = background});
    post("bg 2", {.priority = background});
    post("uv 1", {.priority = user_visible});
    post("uv 2", {.priority = user_visible});
    post("ub 1", {.priority = user_blocking});
    post("ub 2", {.priority = user_blocking});
  });
  EXPECT_THAT(run(), ElementsAre("ub 1", "ub 2", "uv 1", "uv 2", "bg 1", "bg 2"));
}

// Rule: ORD-3
TEST_P(Ord3From, WPT_ORD_04_pick_when_schedulers_differ_then_priority_decides_across_them) {
  const Scheduler second = loop.create_scheduler();
  from_origin([&] {
    scheduler.post(note("first bg"), {.priority = background});
    second.post(note("second uv"), {.priority = user_visible});
    scheduler.post(note("first ub"), {.priority = user_blocking});
    second.post(note("second bg"), {.priority = background});
    scheduler.post(note("first uv"), {.priority = user_visible});
    second.post(note("second ub"), {.priority = user_blocking});
  });
  EXPECT_THAT(run(), ElementsAre("first ub", "second ub", "second uv", "first uv", "first bg",
                                 "second bg"));
}

// Rule: ORD-3
TEST_F(Ord3, pick_when_a_higher_task_came_from_another_thread_meanwhile_then_it_is_next) {
  scheduler.post([&] { on_thread([&] { post("urgent", {.priority = user_blocking}); }); });
  post("older");
  EXPECT_THAT(run(), ElementsAre("urgent", "older"));
}

// Rule: ORD-3
TEST_F(Ord3, pick_when_an_equal_task_came_meanwhile_then_the_older_one_is_next) {
  scheduler.post([&] { post("younger"); });
  post("older");
  EXPECT_THAT(run(), ElementsAre("older", "younger"));
}

// Rule: ORD-3
TEST_F(Ord3, pick_when_a_microtask_posted_a_higher_task_then_it_is_next) {
  scheduler.post([&] { queue_microtask([&] { post("urgent", {.priority = user_blocking}); }); });
  post("older");
  EXPECT_THAT(run(), ElementsAre("urgent", "older"));
}

// Rule: ORD-3, PRI-1
TEST_F(Ord3, pick_when_the_higher_level_never_empties_then_the_lower_never_starts) {
  int rounds = 0;
  const std::function<void()> again = [&] {
    if (++rounds < 1000) scheduler.post(again);
  };
  post("background", {.priority = background});
  scheduler.post(again);
  while (rounds < 1000) {
    ASSERT_TRUE(loop.run_one());
    ASSERT_THAT(trace.take(), ElementsAre());
  }
  EXPECT_THAT(run(), ElementsAre("background"));
}

// Rule: ORD-3
TEST_F(Ord3, poll_when_tasks_post_tasks_then_runs_only_as_many_as_were_there) {
  post("a");
  scheduler.post([&] { post("c"); });
  post("b");
  EXPECT_EQ(loop.poll(), 3U);
  EXPECT_THAT(trace.take(), ElementsAre("a", "b"));
  EXPECT_THAT(run(), ElementsAre("c"));
}

class Ord6 : public VirtualLoopFixture {
 protected:
  TaskController controller{user_visible};
};

// Rule: ORD-6
TEST_F(Ord6, WPT_SP_03_queue_when_its_last_task_posts_to_it_then_no_task_is_lost) {
  int rounds = 0;
  const std::function<void()> again = [&] {
    if (++rounds < 100) scheduler.post(again, {.signal = controller.signal()});
  };
  scheduler.post(again, {.signal = controller.signal()});
  loop.run_until_idle();
  EXPECT_EQ(rounds, 100);
}

// Rule: ORD-6
TEST_F(Ord6, WPT_SP_03_queue_when_emptied_by_an_abort_then_other_queues_keep_their_tasks) {
  TaskController other(user_visible);
  post("aborted", {.signal = controller.signal()});
  post("other 1", {.signal = other.signal()});
  arrive();
  controller.abort();
  post("other 2", {.signal = other.signal()});
  EXPECT_THAT(run(), ElementsAre("other 1", "other 2"));
}

// Rule: ORD-6, PRI-2
TEST_F(Ord6, queue_when_refilled_after_a_priority_change_then_enters_at_the_new_level) {
  post("at user-visible", {.signal = controller.signal()});
  EXPECT_THAT(run(), ElementsAre("at user-visible"));
  controller.set_priority(background);
  post("dynamic", {.signal = controller.signal()});
  post("static", {.priority = user_visible});
  EXPECT_THAT(run(), ElementsAre("static", "dynamic"));
}

// Rule: ORD-6
TEST_F(Ord6, queue_when_its_task_changes_the_priority_then_the_rest_moves_and_none_is_lost) {
  scheduler.post(tracked([&] { controller.set_priority(background); }),
                 {.signal = controller.signal()});
  post("rest 1", {.signal = controller.signal()});
  post("rest 2", {.signal = controller.signal()});
  post("static", {.priority = user_visible});
  EXPECT_THAT(run(), ElementsAre("static", "rest 1", "rest 2"));
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
