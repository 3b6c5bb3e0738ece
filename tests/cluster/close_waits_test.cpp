// Rules: LIF-1: a close by abort while a task waits for what is posted as late as another agent
//         leaves.
#include <heist/agent_cluster.hpp>

#include "cluster/cluster_fixture.hpp"

namespace heist::support {
namespace {

using namespace std::chrono_literals;

/// Of two agents that nobody stands in for.
class ClusterCloseWaits : public ClusterFixture {
 protected:
  void SetUp() override {
    start({.agents = 2, .reserves = 0, .on_stop = [this](unsigned agent) {
             if (agent == 1) has_left.open();
           }});
  }

  static auto waits_at_end(const Promise<int>& promise) {
    const auto wait = [promise](int* /*none*/) { EXPECT_TRUE(settles(promise)); };
    return std::shared_ptr<int>(nullptr, wait);
  }
  void close_held(HeldAgents& held) {
    std::thread closer([this] { cluster().close(CloseMode::abort()); });
    for (unsigned agent = 0; agent < size(); ++agent) {
      ASSERT_TRUE(comes_true([&] { return !bound(agent).post([] {}); }));
    }
    held.let_go();
    closer.join();
  }

  test::Gate begun;
  test::Gate has_left;  ///< the second agent, for good
};

// The agent that leaves drops the first delay, and posts the second one in reaction to that.
TEST_F(ClusterCloseWaits, delayed_task_when_posted_by_an_agent_that_leaves_then_it_rejects) {
  const auto again = [this](const Reason& /*reason*/) {
    return scheduler().post_task([] { return 2; }, {.delay = 1h});
  };
  const auto first = scheduler().post_task([] { return 1; }, {.delay = 1h});
  const auto awaited =
      bound(1).post_task([&] { return first.then([](int value) { return value; }, again); });
  bound(1).post_task([] {}).get();
  const auto waits = bound(0).post_task([&] {
    begun.open();
    return settles(awaited) && awaited.status() == PromiseStatus::rejected;
  });
  begun.wait();
  cluster().close(CloseMode::abort());
  EXPECT_TRUE(waits.get());
}

// Also without reserves: what it waits for need not be a promise.
TEST_F(ClusterCloseWaits, post_within_blocking_when_the_other_agent_has_left_then_dropped) {
  const auto posted = bound(0).post_task([&] {
    blocking([&] {
      begun.open();
      has_left.wait();
      for (const auto delay : {0h, 1h}) {
        test::Gate is_gone;
        const auto at_end = [&is_gone](int* /*none*/) { is_gone.open(); };
        scheduler().post([kept = std::shared_ptr<int>(nullptr, at_end)] {}, {.delay = delay});
        is_gone.wait();
      }
    });
  });
  begun.wait();
  cluster().close(CloseMode::abort());
  EXPECT_EQ(posted.status(), PromiseStatus::fulfilled);
}

// Both are about to leave: neither would drop what the other one waits for.
TEST_F(ClusterCloseWaits,
       promise_when_callbacks_of_both_agents_wait_for_it_as_they_go_then_it_rejects) {
  std::vector<Promise<int>> awaited;
  {
    HeldAgents held(cluster());
    for (unsigned agent = 0; agent < size(); ++agent) {
      awaited.push_back(scheduler().post_task([] { return 1; }));
      bound(agent).post([kept = waits_at_end(awaited.back())] {});
    }
    close_held(held);
  }
  for (const auto& task : awaited) EXPECT_EQ(task.status(), PromiseStatus::rejected);
}

// They stand before what they wait for, also among delays.
TEST_F(ClusterCloseWaits, promise_when_a_callback_waits_for_it_as_it_goes_then_it_rejects) {
  std::vector<Promise<int>> awaited;
  {
    HeldAgents held(cluster());
    for (const auto delay : {0h, 1h}) {
      const auto others = std::make_shared<std::vector<Promise<int>>>();
      const auto wait = [others](int* /*none*/) {
        for (const auto& other : *others) EXPECT_TRUE(settles(other));
      };
      scheduler().post([kept = std::shared_ptr<int>(nullptr, wait)] {}, {.delay = delay});
      others->push_back(scheduler().post_task([] { return 1; }, {.delay = delay}));
      awaited.push_back(others->back());
    }
    close_held(held);
  }
  for (const auto& task : awaited) EXPECT_EQ(task.status(), PromiseStatus::rejected);
}

// Rule: ABT-4. The agent that leaves is the one that may destroy it.
TEST_F(ClusterCloseWaits, end_of_an_aborted_callback_when_the_other_agent_leaves_then_it_comes) {
  TaskController controller;
  test::Gate is_gone;
  const auto at_end = [&is_gone](int* /*none*/) { is_gone.open(); };
  const auto aborted = scheduler().post_task([kept = std::shared_ptr<int>(nullptr, at_end)] {},
                                             {.signal = controller.signal(), .delay = 1h});
  fall_asleep();  // it is in the wheel
  bound(0).post([&] {
    begun.open();
    is_gone.wait();
  });
  begun.wait();
  test::Gate is_held;
  test::Gate may_end;
  bound(1).post([&] {
    is_held.open();
    may_end.wait();
  });
  is_held.wait();
  controller.abort();
  std::thread closer([this] { cluster().close(CloseMode::abort()); });
  EXPECT_TRUE(comes_true([&] { return !bound(1).post([] {}); }));
  may_end.open();
  closer.join();
}

}  // namespace
}  // namespace heist::support
