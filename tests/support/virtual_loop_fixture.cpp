#include "support/virtual_loop_fixture.hpp"

#include <exception>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/posted_task.hpp>

#include "heist/loop/drive_scope.hpp"
#include "heist/loop/loop_core.hpp"
#include "support/threads.hpp"

namespace heist::support {

using namespace detail;

namespace {

void expect_nothing_left(LoopCore& core) {
  const AgentState& agent = core.on_agent();
  EXPECT_TRUE(agent.waiting.limits().empty());
  EXPECT_TRUE(agent.queues.empty());
  EXPECT_TRUE(agent.waiting.delays().empty());
  EXPECT_TRUE(agent.microtasks.empty());
  EXPECT_FALSE(core.aborted().has_tasks()) << "aborted tasks not cleared away";
  EXPECT_TRUE(agent.waiting.delays().check_invariants());
}

}  // namespace

void VirtualLoopFixture::in_task(const std::function<void()>& body) {
  std::exception_ptr error;
  const auto run = [&] {
    try {
      body();
    } catch (...) {
      error = std::current_exception();
    }
  };
  auto& task = *make_node<PlainTask<decltype(run)>>(run);
  task.scheduler = Access::core(scheduler);
  task.priority = user_blocking;
  task.is_continuation = true;  // its level is above that of every posted task
  ASSERT_TRUE(Access::home(scheduler)->post(task));
  loop.run_most_urgent();
  if (error) std::rethrow_exception(std::move(error));
}

void VirtualLoopFixture::from(Origin origin, const std::function<void()>& work) {
  switch (origin) {
    case Origin::task:
      return in_task(work);
    case Origin::driver:
      return work();
    case Origin::other_thread:
      return on_thread(work);
  }
}

void VirtualLoopFixture::TearDown() {
  if (IsSkipped()) return;
  loop.run_until_idle();
  EXPECT_EQ(loop.pending(), 0U) << "tasks left";
  loop.on_agent(&expect_nothing_left);
  RuntimeFixture::TearDown();
}

}  // namespace heist::support
