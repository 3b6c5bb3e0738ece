// Rules: WAIT-1, WAIT-2, WAIT-3, WAIT-4, YLD-6. What has waited for its priority's maximum is
//         picked next, whatever its level.
#include <gmock/gmock.h>

#include <chrono>
#include <heist/agent_cluster.hpp>
#include <heist/heist.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/virtual_loop_fixture.hpp"

namespace heist::support {

using namespace detail;
namespace {

using std::chrono::nanoseconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto background_most = 16ms;
constexpr auto visible_most = 32ms;

/// Background tasks wait for 16 ms at the most, user-visible ones for 32, user-blocking ones as
/// long as it takes.
class MaxWaitPicks : public RuntimeFixture {
 protected:
  explicit MaxWaitPicks(EventLoopOptions options = {})
      : loop(with_clock(options)), scheduler(loop.scheduler()) {}

  static EventLoopOptions with_clock(EventLoopOptions options) {
    options.clock = LoopClock::virtual_time;
    if (options.max_wait == MaxWait{}) {
      options.max_wait = {.user_visible = visible_most, .background = background_most};
    }
    return options;
  }
  /// A task that traces its label and when it started, in milliseconds.
  [[nodiscard]] auto timed(std::string label) {
    return tracked([this, label = std::move(label)] {
      trace.add(label + "@" + std::to_string(loop.now() / 1ms));
    });
  }
  /// User-blocking work for so many milliseconds, of a millisecond each.
  void flood(int turns) {
    for (int turn = 0; turn < turns; ++turn) {
      scheduler.post([this] { loop.spend(1ms); }, {.priority = user_blocking});
    }
  }
  void post(std::string label, TaskPriority priority) {
    scheduler.post(timed(std::move(label)), {.priority = priority});
  }
  std::vector<std::string> run() {
    loop.run_until_idle();
    return trace.take();
  }

  EventLoop loop;
  Scheduler scheduler;
};

TEST_F(MaxWaitPicks, task_when_it_has_waited_for_its_maximum_then_picked_before_higher_ones) {
  post("background", background);
  post("visible", user_visible);
  flood(50);
  EXPECT_THAT(run(), ElementsAre("background@16", "visible@32"));
}

TEST_F(MaxWaitPicks, task_when_it_has_not_waited_for_its_maximum_then_picked_in_its_turn) {
  post("background", background);
  flood(15);
  post("blocking", user_blocking);
  EXPECT_THAT(run(), ElementsAre("blocking@15", "background@15"));
}

TEST_F(MaxWaitPicks, task_when_posted_at_the_end_of_a_long_one_then_waits_from_then_on) {
  scheduler.post(
      [this] {
        loop.spend(1000ms);
        post("background", background);
      },
      {.priority = user_blocking});
  flood(30);
  EXPECT_THAT(run(), ElementsAre("background@1016"));
}

TEST_F(MaxWaitPicks, task_when_posted_after_an_idle_second_then_waits_from_then_on) {
  post("first", background);
  EXPECT_THAT(run(), ElementsAre("first@0"));
  loop.advance(1000ms);
  post("background", background);
  flood(30);
  EXPECT_THAT(run(), ElementsAre("background@1016"));
}

TEST_F(MaxWaitPicks, tasks_when_posted_all_the_time_then_each_waits_a_sixteenth_too_long_at_most) {
  std::vector<nanoseconds> waits;
  for (int turn = 0; turn < 400; ++turn) {
    scheduler.post(
        [this, &waits] {
          loop.spend(100us);
          const auto posted = loop.now();
          scheduler.post([this, posted, &waits] { waits.push_back(loop.now() - posted); },
                         {.priority = background});
          loop.spend(100us);
        },
        {.priority = user_blocking});
  }
  flood(100);
  EXPECT_THAT(run(), IsEmpty());
  ASSERT_EQ(waits.size(), 400U);
  // The tasks that run meanwhile: the one that posted it, and another one when it is due.
  const auto latest = background_most + background_most / 16 + 2 * 1ms;
  EXPECT_THAT(waits, testing::Each(testing::AllOf(testing::Ge(nanoseconds(background_most)),
                                                  testing::Le(nanoseconds(latest)))));
}

TEST_F(MaxWaitPicks, tasks_when_several_are_late_then_the_one_whose_maximum_ended_first) {
  const auto later = [this](std::string label) {
    scheduler.post([this, label] { post(label, background); }, {.priority = user_blocking});
  };
  post("visible, ends at 32", user_visible);
  flood(8);
  later("background, ends at 24");
  flood(6);
  later("background, ends at 30");
  flood(6);
  later("background, ends at 36");
  flood(2);
  scheduler.post([this] { loop.spend(78ms); }, {.priority = user_blocking});
  post("blocking", user_blocking);
  EXPECT_THAT(run(),
              ElementsAre("background, ends at 24@100", "background, ends at 30@100",
                          "visible, ends at 32@100", "background, ends at 36@100", "blocking@100"));
}

TEST_F(MaxWaitPicks, continuation_when_it_has_waited_for_its_maximum_then_picked_next) {
  const auto coroutine = [this]() -> Promise<void> {
    flood(40);
    trace.add("first");
    co_await heist::yield();
    trace.add("second@" + std::to_string(loop.now() / 1ms));
  };
  static_cast<void>(scheduler.post_task(coroutine, {.priority = background}));
  post("background", background);
  EXPECT_THAT(run(), ElementsAre("first", "background@16", "second@17"));
}

TEST_F(MaxWaitPicks, priority_when_it_has_changed_then_the_present_one_says_how_long) {
  TaskController sooner(user_visible);
  TaskController later(background);
  static_cast<void>(scheduler.post_task(timed("sooner"), {.signal = sooner.signal()}));
  static_cast<void>(scheduler.post_task(timed("later"), {.signal = later.signal()}));
  later.set_priority(user_visible);
  flood(20);
  scheduler.post([&] { sooner.set_priority(background); }, {.priority = user_blocking});
  flood(20);
  EXPECT_THAT(run(), ElementsAre("sooner@20", "later@32"));
}

TEST_F(MaxWaitPicks, delayed_task_when_its_delay_is_over_then_waits_from_then_on) {
  static_cast<void>(
      scheduler.post_task(timed("delayed"), {.priority = background, .delay = Delay(10ms)}));
  flood(50);
  EXPECT_THAT(run(), ElementsAre("delayed@26"));
}

TEST_F(MaxWaitPicks, late_task_when_aborted_then_it_never_starts_and_the_next_one_is_picked) {
  AbortController controller;
  auto aborted = scheduler.post_task(timed("aborted"),
                                     {.signal = controller.signal(), .priority = background});
  post("background", background);
  flood(20);
  loop.run_one();
  controller.abort();
  EXPECT_THAT(run(), ElementsAre("background@16"));
  EXPECT_EQ(aborted.status(), PromiseStatus::rejected);
}

TEST_F(MaxWaitPicks, late_task_when_its_scheduler_is_suspended_then_waits_for_resume) {
  const Scheduler other = loop.create_scheduler();
  other.post(timed("suspended"), {.priority = background});
  post("background", background);
  other.suspend();
  flood(20);
  scheduler.post([&] { other.resume(); }, {.priority = user_blocking});
  flood(5);
  EXPECT_THAT(run(), ElementsAre("background@16", "suspended@20"));
}

TEST_F(MaxWaitPicks, plain_tasks_when_they_are_late_then_picked_as_user_visible_ones) {
  loop.queue_task(TaskSource::io, timed("plain"));
  flood(40);
  EXPECT_THAT(run(), ElementsAre("plain@32"));
}

TEST_F(MaxWaitPicks, poll_when_a_task_is_late_then_runs_it_first) {
  post("background", background);
  post("blocking", user_blocking);
  loop.run_one();
  EXPECT_THAT(trace.take(), ElementsAre("blocking@0"));
  post("blocking", user_blocking);
  loop.spend(20ms);
  loop.poll();
  EXPECT_THAT(trace.take(), ElementsAre("background@20", "blocking@20"));
}

class MaxWaitWithCap : public MaxWaitPicks {
 protected:
  MaxWaitWithCap()
      : MaxWaitPicks({.continuation_cap = 2ms, .max_wait = {.background = background_most}}) {}

  Promise<void> busy(int turns) {
    for (int turn = 1; turn <= turns; ++turn) {
      co_await heist::yield();
      trace.add("y@" + std::to_string(loop.now() / 1ms));
      loop.spend(1ms);
    }
  }
};

TEST_F(MaxWaitWithCap, late_task_when_continuations_go_on_then_both_rules_hold) {
  post("background", background);
  scheduler.post([this] { loop.spend(14ms); });
  static_cast<void>(scheduler.post_task([this] { return busy(6); }));
  post("visible", user_visible);
  post("visible", user_visible);
  EXPECT_THAT(run(), ElementsAre("y@14", "y@15", "background@16", "y@16", "y@17", "visible@18",
                                 "y@18", "y@19", "visible@20"));
}

class NoMaxWait : public MaxWaitPicks {
 protected:
  NoMaxWait() : MaxWaitPicks({.max_wait = {.user_blocking = 1ms}}) {}
};

TEST_F(NoMaxWait, task_when_its_priority_has_no_maximum_then_waits_for_ever) {
  post("background", background);
  post("visible", user_visible);
  flood(5000);
  EXPECT_THAT(run(), ElementsAre("visible@5000", "background@5000"));
}

// WAIT-1: the options.

TEST(MaxWaitOptions, maximum_when_out_of_range_then_refused) {
  const std::vector<nanoseconds> wrong = {-1ns, 1ns, 999us, std::chrono::hours(1) + 1ns};
  for (const auto wait : wrong) {
    EXPECT_THROW(EventLoop({.max_wait = {.user_blocking = wait}}), std::invalid_argument);
    EXPECT_THROW(EventLoop({.max_wait = {.user_visible = wait}}), std::invalid_argument);
    EXPECT_THROW(Agent({.loop = {.max_wait = {.background = wait}}}), std::invalid_argument);
    EXPECT_THROW(AgentCluster({.agents = 1, .loop = {.max_wait = {.background = wait}}}),
                 std::invalid_argument);
  }
  EXPECT_NO_THROW(EventLoop({.max_wait = {.user_visible = 1ms, .background = 1h}}));
}

TEST(MaxWaitOptions, profile_then_has_the_timeouts_of_the_cooperative_scheduler) {
  constexpr auto profile = MaxWait::cooperative_timeouts();
  EXPECT_EQ(profile.of(user_blocking), 250ms);
  EXPECT_EQ(profile.of(user_visible), 5000ms);
  EXPECT_EQ(profile.of(background), 10000ms);
  EXPECT_NO_THROW(EventLoop({.max_wait = profile}));
}

}  // namespace
}  // namespace heist::support
