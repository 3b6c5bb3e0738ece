// A task whose post overlaps the abort of its signal, step by step: the aborter claims it, and
// tells its loop, before it has arrived there.
#include <heist/detail/node_memory.hpp>
#include <heist/detail/posted_task.hpp>
#include <utility>

#include "heist/loop/loop_core.hpp"
#include "heist/signal/signal_core.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using namespace support;  // NOLINT(google-build-using-namespace): the whole of it is for tests
using testing::ElementsAre;

/// What Scheduler::post does with a signal, in two halves.
class Abt4Arrival : public VirtualLoopFixture, public testing::WithParamInterface<bool> {
 protected:
  /// Makes a task, delayed by an hour if the parameter says so, and registers it with the signal.
  SchedulerTask& make_registered() {
    auto callback = note("never");
    auto& task = *make_node<SignalledTask<decltype(callback)>>(std::move(callback));
    SignalCore& signal = Access::core(controller.signal());
    task.scheduler = Access::core(scheduler);
    task.links->port = &signal.port_for(*Access::core(scheduler));
    retain(signal);
    task.links->signal = &signal;
    task.is_dynamic = true;
    if (GetParam()) loop.core().set_delay(task, 1h);
    task.links->memory.add();
    EXPECT_TRUE(signal.add(*task.links));
    return task;
  }
  bool hand_over(SchedulerTask& task) { return loop.core().post(task); }

  TaskController controller;
};
INSTANTIATE_TEST_SUITE_P(Delayed, Abt4Arrival, testing::Bool());

// Rule: ABT-2, ABT-4
TEST_P(Abt4Arrival, task_when_it_arrives_after_the_agent_heard_of_the_abort_then_cleared_at_once) {
  SchedulerTask& task = make_registered();
  controller.abort();
  loop.run_until_idle();
  EXPECT_EQ(callbacks.alive(), 1);
  EXPECT_TRUE(hand_over(task));
  EXPECT_THAT(run(), ElementsAre());
  EXPECT_EQ(callbacks.alive(), 0);
  EXPECT_EQ(loop.pending(), 0U);
}

// Rule: ABT-2, ABT-4
TEST_P(Abt4Arrival, task_when_it_arrives_before_the_agent_hears_of_the_abort_then_cleared_at_once) {
  SchedulerTask& task = make_registered();
  controller.abort();
  EXPECT_TRUE(hand_over(task));
  EXPECT_THAT(run(), ElementsAre());
  EXPECT_EQ(callbacks.alive(), 0);
  EXPECT_EQ(loop.pending(), 0U);
}

// Rule: PRI-3. As above, with a change of priority in between.
TEST_P(Abt4Arrival, task_when_the_priority_changed_before_it_arrived_then_it_is_at_the_new_level) {
  SchedulerTask& task = make_registered();
  post("user-visible", {.delay = GetParam() ? 1h : 0h});
  controller.set_priority(user_blocking);
  if (GetParam()) loop.run_until_idle();
  EXPECT_TRUE(hand_over(task));
  loop.advance(1h);
  EXPECT_THAT(trace.take(), ElementsAre("never", "user-visible"));
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
