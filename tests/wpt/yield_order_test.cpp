// In which order tasks that yield go on.
#include "support/posted_from.hpp"
#include "wpt/yield_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;

class YieldOrder : public YieldFixture {
 protected:
  /// A task that yields three times, before two tasks of each level.
  std::vector<std::string> order_of(const PostTaskOptions& options) {
    static_cast<void>(scheduler.post_task([this] { return yielder("y", 3); }, options));
    for (const char* number : {"1", "2"}) {
      post(std::string("blocking") + number, {.priority = user_blocking});
      post(std::string("visible") + number, {.priority = user_visible});
      post(std::string("background") + number, {.priority = background});
    }
    return run();
  }
  static auto visible_order() {
    return ElementsAre("blocking1", "blocking2", "y0", "y1", "y2", "y3", "visible1", "visible2",
                       "background1", "background2");
  }
  static auto blocking_order() {
    return ElementsAre("y0", "y1", "y2", "y3", "blocking1", "blocking2", "visible1", "visible2",
                       "background1", "background2");
  }
  static auto background_order() {
    return ElementsAre("blocking1", "blocking2", "visible1", "visible2", "y0", "y1", "y2", "y3",
                       "background1", "background2");
  }
};

TEST_F(YieldOrder, WPT_Y_P1_yield_when_user_visible_then_before_other_user_visible_tasks) {
  EXPECT_THAT(order_of({}), visible_order());
  EXPECT_THAT(order_of({.priority = user_visible}), visible_order());
}

TEST_F(YieldOrder, WPT_Y_P2_yield_when_user_blocking_then_before_other_user_blocking_tasks) {
  EXPECT_THAT(order_of({.priority = user_blocking}), blocking_order());
}

TEST_F(YieldOrder, WPT_Y_P3_yield_when_background_then_before_other_background_tasks_only) {
  EXPECT_THAT(order_of({.priority = background}), background_order());
}

TEST_F(YieldOrder, WPT_Y_P4_yield_when_a_signal_gives_the_priority_then_the_same_orders) {
  EXPECT_THAT(order_of({.signal = TaskController().signal()}), visible_order());
  EXPECT_THAT(order_of({.signal = TaskController(user_blocking).signal()}), blocking_order());
  EXPECT_THAT(order_of({.signal = TaskController(background).signal()}), background_order());
}

class YieldOrderDynamic : public YieldFixture {
 protected:
  Promise<void> lowers_itself() {
    trace.add("y0");
    co_await heist::yield();
    trace.add("y1");
    co_await heist::yield();
    trace.add("y2");
    controller.set_priority(background);
    co_await heist::yield();
    trace.add("y3");
    co_await heist::yield();
    trace.add("y4");
  }

  TaskController controller;
};

TEST_F(YieldOrderDynamic, WPT_Y_P5_yield_when_the_signals_priority_changes_then_the_next_uses_it) {
  static_cast<void>(
      scheduler.post_task([this] { return lowers_itself(); }, {.signal = controller.signal()}));
  post("visible1");
  post("visible2");
  EXPECT_THAT(run(), ElementsAre("y0", "y1", "y2", "visible1", "visible2", "y3", "y4"));
}

TEST_F(YieldOrder, WPT_Y_P6_yield_when_in_a_timer_then_before_the_next_timers) {
  in_task([this] {
    for (const char* label : {"a", "b", "c"}) {
      static_cast<void>(set_timeout([this, label] { static_cast<void>(yielder(label, 3)); }));
    }
  });
  EXPECT_THAT(run(),
              ElementsAre("a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3", "c0", "c1", "c2", "c3"));
}

// There is no idle queue: what is to run in idle time is a background task.
TEST_F(YieldOrder, WPT_Y_P7_yield_when_in_idle_work_then_behind_user_visible_before_background) {
  const auto idle_work = [this] {
    post_one_of_each_level();
    return yielder("idle", 2);
  };
  static_cast<void>(scheduler.post_task(idle_work, {.priority = background}));
  post("next idle work", {.priority = background});
  EXPECT_THAT(run(), ElementsAre("idle0", "blocking", "visible", "idle1", "idle2", "next idle work",
                                 "background"));
}

TEST_F(YieldOrder, WPT_Y_P8_continuations_when_of_one_level_then_first_in_first_out) {
  in_task([this] {
    static_cast<void>(yielder("a", 2));
    static_cast<void>(yielder("b", 2));
    static_cast<void>(yielder("c", 2));
  });
  EXPECT_THAT(run(), ElementsAre("a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2"));
}

class YieldOrderOutside : public YieldFixture, public testing::WithParamInterface<Origin> {
 protected:
  Promise<void> yields() {
    co_await scheduler.yield();
    trace.add("continuation");
  }
};

TEST_P(YieldOrderOutside, WPT_Y_P9_yield_when_outside_any_task_then_user_visible_continuation) {
  post_one_of_each_level();
  from(GetParam(), [this] { static_cast<void>(yields()); });
  EXPECT_THAT(run(), as_user_visible());
}

INSTANTIATE_TEST_SUITE_P(From, YieldOrderOutside,
                         testing::Values(Origin::driver, Origin::other_thread), origin_name);

TEST_F(YieldOrder, WPT_Y_P10_yield_when_it_names_a_priority_or_a_signal_then_that_one_counts) {
  const TaskController blocking(user_blocking);
  for (const YieldOptions& options :
       {YieldOptions(ContinuationPriority::user_blocking), YieldOptions(blocking.signal())}) {
    const auto task = [this, &options] {
      post_one_of_each_level();
      return yielder("y", 1, options);
    };
    static_cast<void>(scheduler.post_task(task, {.priority = background}));
    EXPECT_THAT(run(), ElementsAre("y0", "y1", "blocking", "visible", "background"));
  }
}

}  // namespace
}  // namespace heist::support
