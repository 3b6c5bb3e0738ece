// How many dynamic queues there are. (The rows come from unit tests of another implementation.)
#include <heist/task_signal.hpp>
#include <optional>

#include "heist/loop/drive_scope.hpp"
#include "heist/loop/loop_core.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace heist::support {

using namespace detail;
namespace {

using testing::ElementsAre;

class WptQueues : public VirtualLoopFixture {
 protected:
  /// Those that hold tasks.
  int dynamic_queues() {
    arrive();
    int count = 0;
    loop.on_agent([&count](LoopCore& core) {
      core.on_agent().queues.relevel([&count](DynamicQueue& queue) {
        ++count;
        return queue.level;
      });
    });
    return count;
  }
};

TEST_F(WptQueues, WPT_BL_01_tasks_when_of_a_fixed_priority_then_no_queue_of_their_signal) {
  const TaskController controller;
  for (const auto priority : {background, user_visible, user_blocking}) {
    post("fixed", {.priority = priority});
    post("fixed", {.signal = controller.signal(), .priority = priority});
  }
  EXPECT_EQ(dynamic_queues(), 0);
  EXPECT_EQ(run().size(), 6U);
}

TEST_F(WptQueues, WPT_BL_02_tasks_when_their_signal_only_aborts_then_no_queue_of_it) {
  const AbortController controller;
  post("task", {.signal = controller.signal()});
  EXPECT_EQ(dynamic_queues(), 0);
  EXPECT_EQ(run().size(), 1U);
}

TEST_F(WptQueues, WPT_BL_03_tasks_when_of_several_task_signals_then_one_queue_for_each) {
  const TaskController first;
  const TaskController second;
  const TaskController third(background);
  post("first", {.signal = first.signal()});
  EXPECT_EQ(dynamic_queues(), 1);
  post("second", {.signal = second.signal()});
  post("third", {.signal = third.signal()});
  EXPECT_EQ(dynamic_queues(), 3);
  EXPECT_THAT(run(), ElementsAre("first", "second", "third"));
  EXPECT_EQ(dynamic_queues(), 0);
}

TEST_F(WptQueues, WPT_BL_04_tasks_when_of_one_task_signal_then_share_its_queue) {
  const TaskController controller;
  for (int i = 0; i < 10; ++i) post("task", {.signal = controller.signal()});
  EXPECT_EQ(dynamic_queues(), 1);
  EXPECT_EQ(run().size(), 10U);
}

TEST_F(WptQueues, WPT_BL_05_queue_when_its_controller_is_gone_then_lives_until_its_tasks_have_run) {
  std::optional<TaskController> controller(background);
  post("first", {.signal = controller->signal()});
  post("second", {.signal = controller->signal()});
  controller->set_priority(user_blocking);
  post("between", {.priority = user_visible});
  controller.reset();
  EXPECT_EQ(dynamic_queues(), 1);
  EXPECT_THAT(run(), ElementsAre("first", "second", "between"));
  EXPECT_EQ(dynamic_queues(), 0);
}

}  // namespace
}  // namespace heist::support
