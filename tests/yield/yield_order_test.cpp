// Rule: YLD-1, YLD-2. In which order tasks that yield go on.
#include <stdexcept>

#include "yield/yield_fixture.hpp"

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
  /// The order when its turns come just before the tasks of this priority.
  static std::vector<std::string> order_before(TaskPriority priority) {
    std::vector<std::string> order{"blocking1", "blocking2",   "visible1",
                                   "visible2",  "background1", "background2"};
    const auto place = order.begin() + 2 * (2 - static_cast<int>(priority));
    order.insert(place, {"y0", "y1", "y2", "y3"});
    return order;
  }
};

TEST_F(YieldOrder, WPT_Y_P1_to_P4_yield_when_others_wait_then_just_before_those_of_its_priority) {
  EXPECT_EQ(order_of({}), order_before(user_visible));
  for (const auto priority : every_priority) {
    EXPECT_EQ(order_of({.priority = priority}), order_before(priority));
    EXPECT_EQ(order_of({.signal = TaskController(priority).signal()}), order_before(priority));
  }
}

TEST_F(YieldOrder, WPT_Y_P5_yield_when_the_signals_priority_changes_then_the_next_uses_it) {
  TaskController controller;
  const auto lowers_itself = [&]() -> Promise<void> {
    const auto first = yielder("a", 2);
    co_await first;
    controller.set_priority(background);
    const auto second = yielder("b", 2);
    co_await second;
  };
  static_cast<void>(scheduler.post_task(lowers_itself, {.signal = controller.signal()}));
  post("visible1");
  post("visible2");
  EXPECT_THAT(run(), ElementsAre("a0", "a1", "a2", "b0", "visible1", "visible2", "b1", "b2"));
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

// There is no idle queue: what is to run in idle time is a background task, and its continuations
// are of that level.
TEST_F(YieldOrder, WPT_Y_P7_WPT_SP_13_yield_when_in_idle_work_then_with_background_state) {
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
  const auto yields_twice = [this](const char* label) {
    return [this, label] { static_cast<void>(yielder(label, 2)); };
  };
  scheduler.post(yields_twice("a"));
  scheduler.post(yields_twice("b"));
  EXPECT_THAT(run(), ElementsAre("a0", "a1", "a2", "b0", "b1", "b2"));
  in_task([&] {
    for (const char* label : {"a", "b", "c"}) yields_twice(label)();
  });
  EXPECT_THAT(run(), ElementsAre("a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2"));
}

TEST_F(YieldOrder, WPT_SP_14_plain_tasks_when_among_others_then_beside_user_visible_ones_by_age) {
  post_one_of_each_level();
  for (const auto source :
       {TaskSource::timer, TaskSource::io, TaskSource::message, TaskSource::user}) {
    const auto number = std::to_string(static_cast<int>(source));
    loop.queue_task(source, tracked([this, number] {
                      trace.add((Scheduler::current() ? "with state " : "source ") + number);
                    }));
    post("visible " + number);
  }
  static_cast<void>(
      scheduler.post_task([this] { return yielder("y", 1); }, {.priority = user_blocking}));
  EXPECT_THAT(run(), ElementsAre("blocking", "y0", "y1", "visible", "source 0", "visible 0",
                                 "source 1", "visible 1", "source 2", "visible 2", "source 3",
                                 "visible 3", "background"));
  EXPECT_THROW(loop.queue_task(static_cast<TaskSource>(9), [] {}), std::invalid_argument);
}

}  // namespace
}  // namespace heist::support
