// Rules of the specification that upstream does not test.
#include "wpt/yield_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;

class WptNormative : public YieldFixture {
 protected:
  /// Yields with these options among tasks of each level.
  Promise<void> compete_with(YieldOptions options) {
    post_one_of_each_level();
    co_await heist::yield(options);
    trace.add("continuation");
  }
};

TEST_F(WptNormative, WPT_SP_07_yield_when_signal_and_priority_differ_then_each_counts) {
  TaskController aborts(background);
  const YieldOptions options(aborts.signal(), ContinuationPriority::user_blocking);
  static_cast<void>(scheduler.post_task([&] { return compete_with(options); }));
  EXPECT_THAT(run(), as_user_blocking());
  auto result = scheduler.post_task([&] { return compete_with(options); });
  ASSERT_TRUE(loop.run_one());
  aborts.abort();
  EXPECT_THAT(run(), ElementsAre("blocking", "visible", "background"));
  EXPECT_THROW(std::move(result).get(), AbortError);
}

TEST_F(WptNormative, WPT_SP_08_continuation_when_its_signals_priority_changes_then_it_moves) {
  TaskController controller(user_blocking);
  static_cast<void>(
      scheduler.post_task([this] { return compete(); }, {.signal = controller.signal()}));
  ASSERT_TRUE(loop.run_one());
  controller.set_priority(background);
  EXPECT_THAT(run(), as_background());
}

// There is no idle queue: what is to run in idle time is a background task, and its continuations
// are of that level.
TEST_F(WptNormative, WPT_SP_13_idle_work_when_it_goes_on_then_with_background_state) {
  static_cast<void>(scheduler.post_task([this] { return compete(); }, {.priority = background}));
  EXPECT_THAT(run(), as_background());
}

TEST_F(WptNormative, WPT_SP_14_plain_tasks_when_among_others_then_beside_user_visible_ones_by_age) {
  post("visible 1");
  for (const auto source :
       {TaskSource::timer, TaskSource::io, TaskSource::message, TaskSource::user}) {
    loop.queue_task(source, note("source " + std::to_string(static_cast<int>(source))));
  }
  post_one_of_each_level();
  static_cast<void>(
      scheduler.post_task([this] { return yielder("y", 1); }, {.priority = user_blocking}));
  EXPECT_THAT(run(), ElementsAre("blocking", "y0", "y1", "visible 1", "source 0", "source 1",
                                 "source 2", "source 3", "visible", "background"));
}

TEST_F(WptNormative, WPT_SP_14_plain_tasks_when_they_yield_then_as_user_visible_continuations) {
  loop.queue_task(TaskSource::io, [this] { static_cast<void>(compete()); });
  loop.queue_task(TaskSource::io, note("next"));
  EXPECT_THAT(run(), ElementsAre("blocking", "continuation", "next", "visible", "background"));
}

// docs/policies.md: no bound, unless one is asked for.
TEST_F(WptNormative, WPT_SP_15_continuations_when_without_end_then_their_level_waits_by_default) {
  static_cast<void>(scheduler.post_task([this] { return yielder("y", 10000); }));
  post("visible");
  post("blocking", {.priority = user_blocking});
  const auto order = run();
  ASSERT_EQ(order.size(), 10003U);
  EXPECT_EQ(order.front(), "blocking");
  EXPECT_EQ(order.back(), "visible");
}

}  // namespace
}  // namespace heist::support
