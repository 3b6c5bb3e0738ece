// TaskScheduler and SignalScheduler on one loop: order, priorities, signals, stops.
#include <gtest/gtest.h>

#include <heist/heist.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "execution/probe.hpp"

namespace heist::execution {
namespace {

static_assert(ex::scheduler<TaskScheduler>);
static_assert(ex::scheduler<SignalScheduler>);
static_assert(ex::sender_in<ScheduleSender<TaskScheduler>, NoEnv>);
using Unstoppable = ex::connect_result_t<ScheduleSender<TaskScheduler>, Probe<>>;
static_assert(ex::operation_state<Unstoppable>);
static_assert(sizeof(Unstoppable) == 56 && alignof(Unstoppable) == 8);
static_assert(sizeof(TaskScheduler) <= 16);
/// What stdexec's task_scheduler keeps 72 bytes for has a receiver of three pointers.
struct LargeReceiver : Probe<> {
  void* more[2] = {};
};
static_assert(sizeof(ex::connect_result_t<ScheduleSender<TaskScheduler>, LargeReceiver>) == 72);

template <class Sender, class Env>
inline constexpr bool may_stop = !std::is_same_v<ex::completion_signatures_of_t<Sender, Env>,
                                                 ex::completion_signatures<ex::set_value_t()>>;
using StopEnv = ex::prop<exq::get_stop_token_t, exq::inplace_stop_token>;
using SignalEnv = ex::prop<GetSignal, TaskSignal>;
using PriorityEnv = ex::prop<GetPriority, TaskPriority>;
// Rule: SND-2
static_assert(!may_stop<ScheduleSender<TaskScheduler>, NoEnv>);
static_assert(!may_stop<ScheduleSender<TaskScheduler>, PriorityEnv>);
static_assert(may_stop<ScheduleSender<TaskScheduler>, StopEnv>);
static_assert(may_stop<ScheduleSender<TaskScheduler>, SignalEnv>);
static_assert(may_stop<ScheduleSender<SignalScheduler>, NoEnv>);
// Rule: SND-5
using QuietEnv = ex::prop<exq::get_stop_token_t, QuietStopToken>;
using MaskedEnv = ex::env<ex::prop<exq::get_stop_token_t, exq::never_stop_token>, QuietEnv>;
static_assert(may_stop<ScheduleSender<TaskScheduler>, QuietEnv>);
static_assert(!may_stop<ScheduleSender<TaskScheduler>, MaskedEnv>);
static_assert(!may_be_told_to_stop<QuietEnv> && may_be_told_to_stop<StopEnv>);

// Rule: SND-6
static_assert(!ex::sender<Promise<int>> && !ex::sender<Promise<void>&>);

class Schedule : public testing::Test {
 protected:
  [[nodiscard]] TaskScheduler at(TaskPriority priority) const {
    return as_scheduler(loop.scheduler(), priority);
  }
  auto note(std::string text) {
    return Calling{[this, text = std::move(text)] { told += text; }};
  }

  Ends ends;
  std::string told;
  EventLoop loop;
};

// Rule: SND-1
TEST_F(Schedule, start_when_it_is_started_then_it_completes_in_a_task_of_the_loop) {
  auto operation = ex::connect(ex::schedule(as_scheduler(loop.scheduler())), Calling{[&] {
                                 told += Scheduler::current() == loop.scheduler() ? "task" : "?";
                               }});
  ex::start(operation);
  EXPECT_EQ(told, "");
  EXPECT_EQ(loop.run_until_idle(), 1U);
  EXPECT_EQ(told, "task");
}

// Rule: SND-3
TEST_F(Schedule, start_when_schedulers_have_priorities_then_the_most_urgent_completes_first) {
  auto c = ex::connect(ex::schedule(at(TaskPriority::background)), note("c"));
  auto b = ex::connect(ex::schedule(as_scheduler(loop.scheduler())), note("b"));
  auto a = ex::connect(ex::schedule(at(TaskPriority::user_blocking)), note("a"));
  ex::start(c);
  ex::start(b);
  ex::start(a);
  loop.run_until_idle();
  EXPECT_EQ(told, "abc");
}

// Rule: SND-3
TEST_F(Schedule, start_when_the_environment_has_a_priority_then_a_scheduler_without_one_has_it) {
  const auto write = [](auto sender) {
    return ex::write_env(std::move(sender), ex::prop{get_priority, TaskPriority::user_blocking});
  };
  auto b = ex::connect(ex::schedule(as_scheduler(loop.scheduler())), note("b"));
  auto c = ex::connect(write(ex::schedule(at(TaskPriority::background))), note("c"));
  auto a = ex::connect(write(ex::schedule(as_scheduler(loop.scheduler()))), note("a"));
  ex::start(c);
  ex::start(b);
  ex::start(a);
  loop.run_until_idle();
  EXPECT_EQ(told, "abc");
}

// Rule: SND-3
TEST_F(Schedule, set_priority_when_a_graph_waits_then_all_of_it_follows) {
  TaskController controller(TaskPriority::background);
  const auto sched = as_scheduler(loop.scheduler());
  const auto step = [&](const char* text) {
    return ex::schedule(sched) | ex::then([this, text] { told += text; });
  };
  auto graph = ex::connect(ex::write_env(ex::when_all(step("a"), ex::starts_on(sched, step("b"))),
                                         ex::prop{get_signal, controller.signal()}),
                           note("!"));
  auto other = ex::connect(step("c"), note("?"));
  ex::start(graph);
  ex::start(other);
  controller.set_priority(TaskPriority::user_blocking);
  loop.run_until_idle();
  EXPECT_EQ(told, "ab!c?");
}

// Rule: SND-4
TEST_F(Schedule, abort_when_a_graph_waits_then_it_is_stopped_at_the_next_pick) {
  TaskController controller;
  const auto sched = as_scheduler(loop.scheduler());
  const auto step = ex::schedule(sched) | ex::then([this] { told += "x"; });
  auto graph = ex::connect(
      ex::write_env(ex::when_all(step, step), ex::prop{get_signal, controller.signal()}),
      Probe{&ends});
  ex::start(graph);
  controller.abort();
  EXPECT_EQ(ends.all(), 0);
  loop.run_until_idle();
  EXPECT_EQ(ends.stops, 1);
  EXPECT_EQ(ends.all(), 1);
  EXPECT_EQ(told, "");
}

// Rule: SND-4
TEST_F(Schedule, start_when_the_signal_was_aborted_then_it_is_stopped_at_once) {
  TaskController controller;
  auto operation =
      ex::connect(ex::schedule(as_scheduler(loop.scheduler(), controller.signal())), Probe{&ends});
  controller.abort();
  ex::start(operation);
  EXPECT_EQ(ends.stops, 1);
  loop.run_until_idle();
  EXPECT_EQ(ends.all(), 1);
}

// Rule: SND-4
TEST_F(Schedule, abort_when_it_has_completed_then_it_changes_nothing) {
  TaskController controller;
  {
    auto operation = ex::connect(ex::schedule(as_scheduler(loop.scheduler(), controller.signal())),
                                 Probe{&ends});
    ex::start(operation);
    loop.run_until_idle();
  }
  controller.abort();
  EXPECT_EQ(ends.values, 1);
  EXPECT_EQ(ends.all(), 1);
}

// Rule: SND-3
TEST_F(Schedule, start_when_the_scheduler_has_a_signal_then_it_follows_its_priority) {
  TaskController controller(TaskPriority::background);
  auto a =
      ex::connect(ex::schedule(as_scheduler(loop.scheduler(), controller.signal())), note("a"));
  auto b = ex::connect(ex::schedule(as_scheduler(loop.scheduler())), note("b"));
  ex::start(a);
  ex::start(b);
  controller.set_priority(TaskPriority::user_blocking);
  loop.run_until_idle();
  EXPECT_EQ(told, "ab");
}

// Rule: SND-3
TEST_F(Schedule, start_when_the_environment_has_a_moved_from_signal_then_it_has_none) {
  TaskSignal gone = TaskController().signal();
  const TaskSignal kept = std::move(gone);
  auto operation = ex::connect(ex::schedule(as_scheduler(loop.scheduler())),
                               Probe{&ends, ex::prop{get_signal, gone}});
  ex::start(operation);
  loop.run_until_idle();
  EXPECT_EQ(ends.values, 1);
}

// Rule: SND-2
TEST_F(Schedule, request_stop_when_it_waits_then_it_is_stopped_at_its_turn) {
  exq::inplace_stop_source source;
  auto operation = ex::connect(ex::schedule(as_scheduler(loop.scheduler())),
                               Probe{&ends, ex::prop{exq::get_stop_token, source.get_token()}});
  ex::start(operation);
  source.request_stop();
  EXPECT_EQ(ends.all(), 0);
  loop.run_until_idle();
  EXPECT_EQ(ends.stops, 1);
  EXPECT_EQ(ends.all(), 1);
}

// Rule: SND-2
TEST_F(Schedule, request_stop_when_it_has_not_come_then_it_completes) {
  exq::inplace_stop_source source;
  auto operation = ex::connect(ex::schedule(as_scheduler(loop.scheduler())),
                               Probe{&ends, ex::prop{exq::get_stop_token, source.get_token()}});
  ex::start(operation);
  loop.run_until_idle();
  source.request_stop();
  EXPECT_EQ(ends.values, 1);
  EXPECT_EQ(ends.all(), 1);
}

// Rule: SND-1
TEST_F(Schedule, equality_when_loop_priority_and_signal_are_the_same_then_schedulers_are_equal) {
  EventLoop other;
  const TaskController controller;
  const auto plain = as_scheduler(loop.scheduler());
  EXPECT_EQ(plain, as_scheduler(loop.scheduler()));
  EXPECT_NE(plain, as_scheduler(other.scheduler()));
  EXPECT_NE(plain, at(TaskPriority::user_visible));
  EXPECT_EQ(at(TaskPriority::background), at(TaskPriority::background));
  EXPECT_NE(at(TaskPriority::background), at(TaskPriority::user_visible));
  const auto followed = as_scheduler(loop.scheduler(), controller.signal());
  EXPECT_EQ(followed, as_scheduler(loop.scheduler(), controller.signal()));
  EXPECT_NE(followed, as_scheduler(loop.scheduler(), TaskController().signal()));
  EXPECT_EQ(ex::get_completion_scheduler<ex::set_value_t>(ex::get_env(ex::schedule(followed))),
            followed);
  EXPECT_EQ(ex::get_forward_progress_guarantee(plain), ex::forward_progress_guarantee::parallel);
}

// Rule: SEC-1
TEST_F(Schedule, start_when_the_scheduler_has_a_ceiling_then_no_priority_is_above_it) {
  const auto low = loop.scheduler().with_ceiling(TaskPriority::background);
  auto b = ex::connect(ex::schedule(as_scheduler(low, TaskPriority::user_blocking)), note("b"));
  auto a = ex::connect(ex::schedule(as_scheduler(loop.scheduler())), note("a"));
  ex::start(b);
  ex::start(a);
  loop.run_until_idle();
  EXPECT_EQ(told, "ab");
}

// Rule: LIF-6
TEST_F(Schedule, as_scheduler_when_a_handle_was_moved_from_then_it_throws) {
  Scheduler gone = loop.scheduler();
  const Scheduler kept = std::move(gone);
  EXPECT_THROW(static_cast<void>(as_scheduler(gone)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(as_scheduler(kept, static_cast<TaskPriority>(9))),
               std::invalid_argument);
}

/// Destroys its operation when that completes.
struct Ending {
  using receiver_concept = ReceiverTag;
  std::unique_ptr<struct Owned>* owned;
  void set_value() noexcept;
};
struct Owned {
  ex::connect_result_t<ScheduleSender<TaskScheduler>, Ending> operation;
};
void Ending::set_value() noexcept { owned->reset(); }

// Rule: SND-1
TEST_F(Schedule, set_value_when_it_destroys_the_operation_then_nothing_touches_it_any_more) {
  std::unique_ptr<Owned> owned;
  owned.reset(new Owned{ex::connect(ex::schedule(as_scheduler(loop.scheduler())), Ending{&owned})});
  ex::start(owned->operation);
  loop.run_until_idle();
  EXPECT_EQ(owned, nullptr);
}

}  // namespace
}  // namespace heist::execution
