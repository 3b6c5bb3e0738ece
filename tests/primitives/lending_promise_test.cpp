// Who awaits the promise of post_with_lending lends its priority to the task (LND-7).
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cluster/cluster_fixture.hpp"
#include "flood.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace heist::support {
namespace {

using Labels = std::vector<std::string>;

const PostTaskOptions at_background{.priority = TaskPriority::background};
const PostTaskOptions at_user_visible{.priority = TaskPriority::user_visible};
const PostTaskOptions at_user_blocking{.priority = TaskPriority::user_blocking};

class LendingToTasks : public VirtualLoopFixture {
 protected:
  /// A task that takes one turn more.
  auto post_lent(std::string name, const PostTaskOptions& options = at_background) {
    return post_with_lending(
        scheduler, [this, name] { return in_two_turns(trace, name); }, options);
  }
  void await_at(const LendingPromise<void>& task, std::string name,
                const PostTaskOptions& options) {
    scheduler.post([this, task, name] { static_cast<void>(await_and_note(trace, task, name)); },
                   options);
  }

  static Promise<void> in_two_turns(Trace& trace, std::string name) {
    trace.add(name);
    co_await yield();
    trace.add(name + " ends");
  }
  static Promise<void> await_and_note(Trace& trace, LendingPromise<void> task, std::string name) {
    co_await task;
    trace.add(name + " goes on");
    co_await yield();
    trace.add(name + " ends");
  }
};

// Rule: LND-7
TEST_F(LendingToTasks,
       queued_task_when_an_urgent_one_awaits_it_then_goes_first_with_all_its_turns) {
  const auto task = post_lent("low");
  post("middle");
  await_at(task, "urgent", at_user_blocking);
  EXPECT_EQ(run(), (Labels{"low", "low ends", "urgent goes on", "urgent ends", "middle"}));
}

// Rule: LND-7
TEST_F(LendingToTasks, queued_task_when_nobody_awaits_it_then_keeps_its_place) {
  const auto task = post_lent("low");
  post("middle");
  EXPECT_EQ(run(), (Labels{"middle", "low", "low ends"}));
}

// Rule: LND-7
TEST_F(LendingToTasks, promise_when_it_is_awaited_as_a_plain_one_then_lends_nothing) {
  const Promise<void> plain = post_lent("low");
  post("middle");
  scheduler.post(
      [&] {
        static_cast<void>([](Trace& trace, Promise<void> task) -> Promise<void> {
          co_await task;
          trace.add("urgent");
        }(trace, plain));
      },
      at_user_blocking);
  EXPECT_EQ(run(), (Labels{"middle", "low", "low ends", "urgent"}));
}

// Rule: LND-7
TEST_F(LendingToTasks, waiting_coroutine_when_its_signal_is_raised_then_lends_the_new_priority) {
  TaskController controller(TaskPriority::user_visible);
  const auto task = post_lent("low");
  await_at(task, "waiting", {.signal = controller.signal()});
  EXPECT_TRUE(loop.run_one());
  controller.set_priority(TaskPriority::background);
  post("middle");
  scheduler.post([&] { controller.set_priority(TaskPriority::user_blocking); }, at_user_blocking);
  EXPECT_EQ(run(), (Labels{"low", "low ends", "waiting goes on", "waiting ends", "middle"}));
}

// Rule: LND-7, LND-2
TEST_F(LendingToTasks, task_when_it_awaits_another_one_itself_then_lends_what_it_was_lent) {
  const auto last = post_lent("last");
  const auto first = post_with_lending(
      scheduler, [&] { return await_and_note(trace, last, "first"); }, at_background);
  post("middle");
  await_at(first, "urgent", at_user_blocking);
  EXPECT_EQ(run(), (Labels{"last", "last ends", "first goes on", "first ends", "urgent goes on",
                           "urgent ends", "middle"}));
}

// Rule: LND-7, LND-1
TEST_F(LendingToTasks, task_when_it_waits_for_a_lock_then_the_holder_is_raised_and_so_is_it_later) {
  AsyncMutex mutex;
  std::optional<MutexGuard> guard;
  in_task([&] { guard.emplace(mutex.try_lock()); });
  const auto locks = [](Trace& trace, AsyncMutex& mutex) -> Promise<void> {
    {
      const auto held = co_await mutex.lock();
    }
    trace.add("low has locked");
    co_await yield();
    trace.add("low ends");
  };
  const auto task =
      post_with_lending(scheduler, [&] { return locks(trace, mutex); }, at_background);
  post("middle");
  await_at(task, "urgent", at_user_blocking);
  scheduler.post([&] { guard.reset(); }, at_user_blocking);
  EXPECT_EQ(run(),
            (Labels{"low has locked", "low ends", "urgent goes on", "urgent ends", "middle"}));
}

// Rule: LND-7
TEST_F(LendingToTasks, awaiting_coroutine_when_its_loop_closes_then_lends_until_the_task_ends) {
  std::optional<EventLoop> other(std::in_place);
  const auto task = post_lent("low");
  other->scheduler().post([&] { static_cast<void>(await_and_note(trace, task, "urgent")); },
                          at_user_blocking);
  EXPECT_TRUE(other->run_one());
  other.reset();
  post("middle");
  EXPECT_EQ(run(), (Labels{"low", "low ends", "middle"}));
}

// Rule: LND-7, LND-6
TEST_F(LendingToTasks, task_when_its_scheduler_has_a_ceiling_then_is_raised_no_further) {
  const auto task = post_with_lending(scheduler.with_ceiling(TaskPriority::background),
                                      [this] { trace.add("low"); });
  post("middle");
  await_at(task, "urgent", at_user_blocking);
  EXPECT_EQ(run(), (Labels{"middle", "low", "urgent goes on", "urgent ends"}));
}

// Rule: LND-7, ABT-1
TEST_F(LendingToTasks, task_when_its_signal_aborts_then_rejects_as_others_do) {
  TaskController controller(TaskPriority::background);
  const auto task = post_lent("low", {.signal = controller.signal()});
  controller.abort();
  EXPECT_EQ(task.status(), PromiseStatus::rejected);
  EXPECT_EQ(run(), Labels());
}

// Rule: LND-7, PRI-3
TEST_F(LendingToTasks, task_when_its_own_signal_is_raised_then_moves) {
  TaskController controller(TaskPriority::background);
  const auto task = post_lent("low", {.signal = controller.signal()});
  post("middle");
  controller.set_priority(TaskPriority::user_blocking);
  EXPECT_EQ(run(), (Labels{"low", "low ends", "middle"}));
}

// Rule: LND-7
TEST_F(LendingToTasks, value_that_is_move_only_when_it_is_taken_then_goes_to_the_awaiting_one) {
  const auto takes = [](LendingPromise<std::unique_ptr<int>> task, int& value) -> Promise<void> {
    value = *co_await task.taken();
  };
  int value = 0;
  auto task = post_with_lending(scheduler, [] { return std::make_unique<int>(7); });
  in_task([&] { static_cast<void>(takes(task, value)); });
  loop.run_until_idle();
  EXPECT_EQ(value, 7);
}

TEST_F(LendingToTasks, post_with_lending_when_something_is_misused_then_throws) {
  Scheduler moved = scheduler;
  const Scheduler target = std::move(moved);
  const auto nothing = [] {};
  // NOLINTNEXTLINE(bugprone-use-after-move)
  EXPECT_THROW(static_cast<void>(post_with_lending(moved, nothing)), std::invalid_argument);
  const PostTaskOptions no_priority{.priority = static_cast<TaskPriority>(7)};
  EXPECT_THROW(static_cast<void>(post_with_lending(target, nothing, no_priority)),
               std::invalid_argument);
}

Promise<void> take_two_turns() { co_await yield(); }

/// Once with as many agents as the parameter says.
class LendingToTasksOn : public ClusterOf {
 protected:
  Flood flood_;
};
INSTANTIATE_TEST_SUITE_P(, LendingToTasksOn, sizes, size_name);

// Rule: LND-7
TEST_P(LendingToTasksOn, queued_task_when_others_flood_the_cluster_then_runs_before_their_end) {
  flood_.start(scheduler(), 4 * GetParam());
  const auto low = post_with_lending(scheduler(), &take_two_turns, at_background);
  const auto awaits = [](LendingPromise<void> task, Flood& flood) -> Promise<void> {
    co_await task;
    flood.is_stopped.store(true);
  };
  const auto urgent = scheduler().post_task([&] { return awaits(low, flood_); }, at_user_blocking);
  EXPECT_TRUE(settles(urgent));
  EXPECT_GT(flood_.left.load(), 0);
}

// Rule: LND-7
TEST_P(LendingToTasksOn, coroutines_when_many_await_the_same_tasks_then_all_go_on) {
  constexpr int tasks = 200;
  const auto awaits = [](const std::vector<LendingPromise<void>>& all) -> Promise<void> {
    for (const auto& task : all) co_await task;
  };
  const auto priorities = {TaskPriority::background, TaskPriority::user_visible,
                           TaskPriority::user_blocking};
  std::vector<LendingPromise<void>> all;
  for (int i = 0; i < tasks; ++i) {
    all.push_back(post_with_lending(scheduler(), &take_two_turns, at_background));
  }
  std::vector<Promise<void>> ends;
  for (const TaskPriority priority : priorities) {
    for (int i = 0; i < 4; ++i) {
      ends.push_back(scheduler().post_task([&] { return awaits(all); }, {.priority = priority}));
    }
  }
  for (const auto& end : ends) EXPECT_TRUE(settles(end));
}

}  // namespace
}  // namespace heist::support
