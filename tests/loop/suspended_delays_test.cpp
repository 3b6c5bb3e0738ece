// Rules: SUS-1, DLY-1, DLY-2. Delays count the time for which their scheduler is not suspended,
// however often that changes.
#include <gmock/gmock.h>

#include <algorithm>
#include <heist/heist.hpp>
#include <memory>
#include <string>
#include <vector>

#include "heist/loop/loop_core.hpp"
#include "heist/task/suspension_message.hpp"
#include "support/paged.hpp"
#include "support/reference/random_choices.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace heist::support {

using namespace detail;
namespace {

using std::chrono::nanoseconds;
using testing::ElementsAre;
using testing::IsEmpty;

/// A task without a callback, to be posted step by step.
struct LateTask : SchedulerTask {
  LateTask() : SchedulerTask(table, false) {}
  static void run(LoopNode& node, LoopCore& /*loop*/) noexcept {
    static_cast<LateTask&>(node).has_run = true;
  }
  static void drop(LoopNode& /*node*/) noexcept {}
  static constexpr LoopNodeOps table{LoopNodeKind::task, &run, &drop};
  bool has_run = false;
};

class SuspendedDelays : public VirtualLoopFixture {
 protected:
  static constexpr nanoseconds tick = 1ms;

  /// Lets time pass, a part of it suspended.
  void cycle(nanoseconds running, nanoseconds suspended) {
    loop.advance(running);
    scheduler.suspend();
    loop.advance(suspended);
    scheduler.resume();
  }
};

// A destructor may look at the loop, or wait for something that stands further behind.
TEST_F(SuspendedDelays, close_when_it_drops_one_of_them_then_its_destructor_finds_the_rest) {
  // Shared, as the tasks outlive this function where the test is skipped.
  const auto waiting = std::make_shared<std::vector<std::size_t>>();
  scheduler.suspend();
  for (int i = 0; i < 3; ++i)
    scheduler.post(
        [end = AtDestruction([this, waiting] { waiting->push_back(loop.pending()); })] {},
        {.delay = 5ms});
  arrive();
  loop.close(CloseMode::abort());
  EXPECT_THAT(*waiting, ElementsAre(2, 1, 0));
}

TEST_F(SuspendedDelays, delay_when_suspended_about_once_a_tick_then_ends_on_time) {
  post("over", {.delay = 5ms});
  for (int i = 0; i < 7; ++i) {
    cycle(700us, 300us);
    EXPECT_THAT(trace.take(), IsEmpty());
  }
  loop.advance(2 * tick);
  EXPECT_THAT(trace.take(), ElementsAre("over"));
}

TEST_F(SuspendedDelays, delay_when_suspended_most_of_the_time_then_ends_all_the_same) {
  post("before", {.delay = 50us});
  for (int i = 0; i < 25; ++i) cycle(1us, 10ms);
  post("after", {.delay = 25us});
  for (int i = 0; i < 24; ++i) cycle(1us, 10ms);
  EXPECT_THAT(trace.take(), IsEmpty());
  loop.advance(2 * tick);
  EXPECT_THAT(trace.take(), ElementsAre("after", "before"));
}

TEST_F(SuspendedDelays, delay_when_suspension_is_noticed_late_then_counts_by_the_calls) {
  in_task([this] {
    post("over", {.delay = 5ms});
    loop.spend(1ms);
    scheduler.suspend();
    loop.spend(100ms);
    scheduler.resume();
    loop.spend(3ms);
  });
  EXPECT_THAT(run(), IsEmpty());
  loop.advance(1ms);
  EXPECT_THAT(trace.take(), ElementsAre("over"));
}

TEST_F(SuspendedDelays, delay_when_posted_in_a_suspension_and_noticed_late_then_whole_after_it) {
  scheduler.suspend();
  loop.advance(10ms);
  post("over", {.delay = 50ms});
  loop.spend(40ms);
  scheduler.resume();
  loop.advance(49ms);
  EXPECT_THAT(trace.take(), IsEmpty());
  loop.advance(1ms);
  EXPECT_THAT(trace.take(), ElementsAre("over"));
}

/// Another thread calls resume(), and is stopped before its message is there.
TEST_F(SuspendedDelays, delay_when_posted_while_a_resume_is_under_way_then_is_not_shorter) {
  loop.needs_driver();
  LoopCore& core = Access::core(loop);
  scheduler.suspend();
  auto* resume = make_node<SuspensionMessage>(core.first_scheduler(), false);
  loop.advance(3ms);
  post("over", {.delay = 5ms});
  core.send(*resume);
  loop.advance(4ms);
  EXPECT_THAT(trace.take(), IsEmpty());
  loop.advance(1ms);
  EXPECT_THAT(trace.take(), ElementsAre("over"));
}

/// The same resume is so late that a suspend() which was called before the post comes behind it.
TEST_F(SuspendedDelays, delay_when_suspended_again_before_a_resume_is_noticed_then_is_not_longer) {
  loop.needs_driver();
  LoopCore& core = Access::core(loop);
  scheduler.suspend();
  auto* resume = make_node<SuspensionMessage>(core.first_scheduler(), false);
  auto* suspend = make_node<SuspensionMessage>(core.first_scheduler(), true);
  loop.advance(3ms);
  post("over", {.delay = 5ms});
  arrive();
  core.send(*resume);
  core.send(*suspend);
  loop.advance(4ms);
  scheduler.resume();
  loop.advance(4ms);
  EXPECT_THAT(trace.take(), IsEmpty());
  loop.advance(1ms);
  EXPECT_THAT(trace.take(), ElementsAre("over"));
}

/// A thread that posts is stopped for the rest of one suspension, and into the next one.
TEST_F(SuspendedDelays, delay_when_it_arrives_a_suspension_later_then_is_not_shorter) {
  LateTask late;
  late.scheduler = Access::core(scheduler);
  loop.advance(4ms);
  scheduler.suspend();
  loop.advance(1ms);
  Access::home(scheduler)->set_delay(late, 5ms);
  loop.advance(9ms);
  scheduler.resume();
  loop.advance(3ms);
  scheduler.suspend();
  ASSERT_TRUE(Access::home(scheduler)->post(late));
  loop.advance(6ms);
  scheduler.resume();
  loop.advance(1ms);
  EXPECT_FALSE(late.has_run);
  loop.advance(1ms);
  EXPECT_TRUE(late.has_run);
}

/// A thread that suspends is stopped until a delay has ended which it should have stopped.
TEST_F(SuspendedDelays,
       delay_when_a_suspension_turns_out_to_be_older_then_the_loop_sleeps_until_it) {
  LoopCore& core = Access::core(loop);
  cycle(0ms, 1ms);
  post("first", {.delay = 5ms});
  auto* suspend = make_node<SuspensionMessage>(core.first_scheduler(), true);
  loop.advance(5ms);
  core.send(*suspend);
  scheduler.resume();
  post("over", {.delay = 1ms});
  arrive();
  loop.on_agent(
      [](LoopCore& its) { ASSERT_EQ(its.on_agent().waiting.delays().next_expiry(), 11U); });
  if (HasFatalFailure()) return;
  loop.advance(5ms);
  EXPECT_THAT(trace.take(), ElementsAre("first", "over"));
}

TEST_F(SuspendedDelays,
       delays_that_end_together_when_some_are_older_than_a_suspension_then_in_order) {
  post("first", {.delay = 5ms});
  scheduler.suspend();
  arrive();
  post("second", {.delay = 5ms});
  loop.advance(20ms);
  scheduler.resume();
  arrive();
  post("third", {.delay = 5ms});
  post("shorter", {.delay = 4ms});
  loop.advance(20ms);
  EXPECT_THAT(trace.take(), ElementsAre("shorter", "first", "second", "third"));
}

TEST_F(SuspendedDelays, delay_when_never_then_is_none_to_wait_for) {
  scheduler.suspend();
  AbortController controller;
  post("never", {.signal = controller.signal(), .delay = Delay::never()});
  scheduler.resume();
  loop.advance(1h);
  EXPECT_EQ(loop.pending(), 1U);
  controller.abort();
  EXPECT_THAT(run(), IsEmpty());
}

TEST_F(SuspendedDelays, delays_when_aborted_then_gone_wherever_they_are) {
  AbortController controller;
  const auto doomed = [&](Delay delay) {
    EXPECT_TRUE(post("aborted", {.signal = controller.signal(), .delay = delay}));
  };
  doomed(5ms);
  doomed(1h);
  loop.advance(1ms);
  scheduler.suspend();
  loop.advance(10ms);
  doomed(5ms);
  post("lives", {.delay = 1ms});
  arrive();
  scheduler.resume();
  EXPECT_EQ(loop.pending(), 4U);
  controller.abort();
  loop.run_until_idle();
  EXPECT_EQ(loop.pending(), 1U);
  EXPECT_EQ(callbacks.alive(), 1);
  loop.advance(1ms);
  EXPECT_THAT(trace.take(), ElementsAre("lives"));
}

TEST_F(SuspendedDelays, delay_of_an_agent_when_suspensions_never_stop_then_ends_all_the_same) {
  Agent agent;
  const Scheduler busy = agent.scheduler();
  const auto delayed = busy.post_task([] {}, {.delay = 5ms});
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!delayed.settled() && std::chrono::steady_clock::now() < patience) {
    busy.suspend();
    busy.resume();
  }
  EXPECT_TRUE(delayed.settled());
}

TEST_F(SuspendedDelays, close_when_some_are_there_of_each_kind_then_all_reject) {
  EventLoop other({.clock = LoopClock::virtual_time});
  const Scheduler its = other.scheduler();
  std::vector<Promise<void>> promises;
  const auto add = [&](Delay delay) { promises.push_back(its.post_task([] {}, {.delay = delay})); };
  add(5ms);
  add(1h);
  static_cast<void>(other.pending());
  its.suspend();
  other.advance(10ms);
  add(5ms);
  its.resume();
  EXPECT_EQ(other.pending(), 3U);
  EXPECT_EQ(other.close(CloseMode::drain()).aborted, 3U);
  for (const auto& promise : promises) EXPECT_THROW(promise.get(), AbortError);
}

// "A cycle of suspend and resume does not cost O(all delays)", whenever they were posted.
TEST_F(SuspendedDelays, suspend_and_resume_when_a_thousand_are_delayed_then_touch_one_at_the_most) {
  constexpr std::size_t many = 1000;
  Paged<LateTask> tasks(many);
  EventLoop other({.clock = LoopClock::virtual_time});
  const Scheduler its = other.scheduler();
  const auto cycle = [&] {
    its.suspend();
    static_cast<void>(other.pending());
    its.resume();
    static_cast<void>(other.pending());
  };
  for (std::size_t i = 0; i < many; ++i) {
    LateTask& task = tasks.make();
    task.scheduler = Access::core(its);
    Access::home(its)->set_delay(task, 1h);
    ASSERT_TRUE(Access::home(its)->post(task));
    EXPECT_EQ(other.pending(), i + 1);
    if (i % (many / 2) == 0) {
      EXPECT_LE(tasks.touched_by(cycle), 2U);
    }
  }
  EXPECT_LE(tasks.touched_by(cycle), 1U);
  other.close(CloseMode::abort());
}

/// Random posts, suspensions and steps of time, beside what the rule says.
class SuspendedDelaysHistory {
 public:
  explicit SuspendedDelaysHistory(std::uint64_t seed) : random_(seed) {}

  void run() {
    for (int step = 0; step < 60; ++step) do_something();
    if (is_suspended_) change();
    pass(100ms);
    EXPECT_EQ(ended_.size(), posted_.size());
    EXPECT_TRUE(std::is_sorted(ended_.begin(), ended_.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(due(a), a) < std::pair(due(b), b);
    }));
  }

 private:
  struct Posted {
    nanoseconds end;      ///< exactly, by the scheduler's time
    nanoseconds rounded;  ///< to the tick, for those that were there before the first suspension
  };

  nanoseconds due(std::size_t task) const { return posted_[task].rounded; }
  void do_something() {
    switch (random_.below(4)) {
      case 0:
        return change();
      case 1:
        return post(nanoseconds(1 + random_.below(6'000'000)));
      default:
        return pass(nanoseconds(random_.below(1'500'000)));
    }
  }
  void change() {
    is_suspended_ ? scheduler_.resume() : scheduler_.suspend();
    is_suspended_ = !is_suspended_;
    was_suspended_ = true;
  }
  void post(nanoseconds delay) {
    const nanoseconds end = now_ + delay;
    posted_.push_back({end, was_suspended_ ? end : (end + 1ms - 1ns) / 1ms * 1ms});
    scheduler_.post([this, task = posted_.size() - 1] { note_end(task); }, {.delay = delay});
  }
  void note_end(std::size_t task) {
    const auto own = now_ + (loop_.now() - passed_);
    EXPECT_FALSE(is_suspended_);
    EXPECT_GE(own, posted_[task].end) << "early";
    EXPECT_LT(own, due(task) + 1ms) << "rounded more often than needed";
    ended_.push_back(task);
  }
  void pass(nanoseconds time) {
    loop_.advance(time);
    if (!is_suspended_) now_ += time;
    passed_ = loop_.now();
  }

  reference::RandomChoices random_;
  EventLoop loop_{{.clock = LoopClock::virtual_time}};
  Scheduler scheduler_ = loop_.scheduler();
  nanoseconds now_{};     ///< the scheduler's time
  nanoseconds passed_{};  ///< the loop's, at the end of the last step
  bool is_suspended_ = false;
  bool was_suspended_ = false;
  std::vector<Posted> posted_;
  std::vector<std::size_t> ended_;
};

TEST(SuspendedDelaysProperty, delays_in_random_histories_then_never_early_and_rounded_once) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SuspendedDelaysHistory(seed).run();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace heist::support
