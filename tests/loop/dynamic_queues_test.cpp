// Rule: ORD-6, PRI-2. How many dynamic queues there are. (The rows come from unit tests of another
// implementation.)
#include <heist/task_signal.hpp>
#include <optional>

#include "heist/loop/drive_scope.hpp"
#include "heist/loop/loop_core.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using namespace support;  // NOLINT(google-build-using-namespace): the whole of it is for tests
using testing::ElementsAre;

class DynamicQueues : public VirtualLoopFixture {
 protected:
  /// Those that hold tasks.
  int dynamic_queues() {
    arrive();
    int count = 0;
    loop.on_agent([&count](LoopCore& core) {
      core.on_agent().queues.relevel([&count](DynamicQueue& queue) {
        ++count;
        return queue.level();
      });
    });
    return count;
  }
};

TEST_F(DynamicQueues, WPT_BL_01_WPT_BL_02_tasks_when_no_signal_gives_their_priority_then_none) {
  const TaskController controller;
  const AbortController only_aborts;
  for (const auto priority : every_priority) {
    post("fixed", {.priority = priority});
    post("fixed", {.signal = controller.signal(), .priority = priority});
  }
  post("plain", {.signal = only_aborts.signal()});
  EXPECT_EQ(dynamic_queues(), 0);
  EXPECT_EQ(run().size(), 7U);
}

TEST_F(DynamicQueues, WPT_BL_03_WPT_BL_04_tasks_when_of_task_signals_then_one_queue_for_each) {
  const TaskController first;
  const TaskController second;
  const TaskController third(background);
  post("first", {.signal = first.signal()});
  EXPECT_EQ(dynamic_queues(), 1);
  post("first again", {.signal = first.signal()});
  EXPECT_EQ(dynamic_queues(), 1);
  post("second", {.signal = second.signal()});
  post("third", {.signal = third.signal()});
  EXPECT_EQ(dynamic_queues(), 3);
  EXPECT_THAT(run(), ElementsAre("first", "first again", "second", "third"));
  EXPECT_EQ(dynamic_queues(), 0);
}

TEST_F(DynamicQueues, WPT_BL_05_queue_when_its_controller_is_gone_then_lives_until_its_tasks_ran) {
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

// A helper of a parallel loop asks so whether to let the loop pick.
TEST_F(DynamicQueues, urgency_when_priorities_are_to_be_read_again_then_perhaps_more_urgent) {
  loop.on_agent([](LoopCore& core) {
    core.assert_agent();
    EXPECT_FALSE(core.has_more_urgent(effective_priority(user_blocking, true)));
    core.request_recheck();
    EXPECT_TRUE(core.has_more_urgent(effective_priority(user_blocking, true)));
  });
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
