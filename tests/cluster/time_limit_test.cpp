// Rule: DLY-6 in a cluster: whichever agent picks next aborts a signal whose time limit has ended.
#include <deque>
#include <functional>

#include "cluster/cluster_fixture.hpp"
#include "heist/loop/loop_core.hpp"

namespace heist::support {

using namespace detail;
namespace {

using namespace std::chrono_literals;

class ClusterTimeLimit : public ClusterOf {
 protected:
  /// So many that a limit of a few milliseconds ends before; a signal that aborts ends them.
  static constexpr int most_turns = 300'000;

  static Promise<void> yield_until_aborted(AbortSignal signal) {
    for (int turn = 0; turn < most_turns && !signal.aborted(); ++turn) co_await heist::yield();
  }
  /// Four coroutines for each agent.
  void yield_everywhere(const AbortSignal& signal, TaskPriority priority) {
    std::vector<Promise<void>> ended;
    for (unsigned i = 0; i < 4 * size(); ++i) {
      ended.push_back(scheduler().post_task([signal] { return yield_until_aborted(signal); },
                                            {.priority = priority}));
    }
    for (const auto& promise : ended) EXPECT_TRUE(settles(promise));
  }
};
INSTANTIATE_TEST_SUITE_P(Sizes, ClusterTimeLimit, sizes, size_name);
class ClusterTimeLimitFree : public ClusterOf {};
INSTANTIATE_TEST_SUITE_P(Sizes, ClusterTimeLimitFree, several_agents, size_name);

TEST_P(ClusterTimeLimit, limit_when_all_agents_yield_then_aborts_before_they_end) {
  for (const auto priority : {background, user_visible, user_blocking}) {
    const auto of_the_cluster = AbortSignal::timeout(scheduler(), 2ms);
    yield_everywhere(of_the_cluster, priority);
    EXPECT_TRUE(of_the_cluster.aborted());
    const auto of_an_agent = AbortSignal::timeout(bound(0), 2ms);
    yield_everywhere(of_an_agent, priority);
    EXPECT_TRUE(of_an_agent.aborted());
  }
}

TEST_P(ClusterTimeLimit, limit_when_urgent_tasks_are_always_there_then_aborts_before_they_end) {
  const auto signal = AbortSignal::timeout(scheduler(), 2ms);
  Countdown chains(static_cast<int>(4 * size()));
  const std::function<void(int)> go_on = [&](int turns) {
    if (turns == 0 || signal.aborted()) return chains.done();
    scheduler().post([&, turns] { go_on(turns - 1); }, {.priority = user_blocking});
  };
  for (unsigned i = 0; i < 4 * size(); ++i) go_on(most_turns);
  EXPECT_TRUE(chains.ends());
  EXPECT_TRUE(signal.aborted());
}

TEST_P(ClusterTimeLimit, limit_when_of_no_length_then_aborts_while_all_agents_yield) {
  const auto signal = AbortSignal::timeout(scheduler(), 0ms);
  yield_everywhere(signal, user_blocking);
  EXPECT_TRUE(signal.aborted());
}

TEST_P(ClusterTimeLimitFree, limits_that_end_together_when_one_listener_waits_then_others_abort) {
  constexpr auto limit = 50ms;  // a listener that is added after the end is not told
  const auto first = AbortSignal::timeout(scheduler(), limit);
  const auto second = AbortSignal::timeout(scheduler(), limit);
  const auto both_abort = [&] { return first.aborted() && second.aborted(); };
  std::atomic<int> waited{0};
  const auto wait = [&] { waited += comes_true(both_abort) ? 1 : 0; };
  const auto of_first = first.on_abort(wait);
  const auto of_second = second.on_abort(wait);
  EXPECT_TRUE(comes_true([&] { return waited == 2; }));
}

/// One of many that are handed over to an agent.
struct CountedMessage : LoopNode {
  explicit CountedMessage(std::size_t& count) noexcept : LoopNode(table), arrived(count) {}
  static void take(LoopNode& node, TaskHome& /*home*/) noexcept {
    ++static_cast<CountedMessage&>(node).arrived;
  }
  static void ignore(LoopNode& /*node*/) noexcept {}
  static constexpr MessageOps table{&ignore, &take};

  std::size_t& arrived;
};

TEST_P(ClusterTimeLimitFree, limit_when_much_was_handed_over_to_all_agents_then_before_the_rest) {
  constexpr std::size_t many = 100'000;
  constexpr std::size_t portions = 4096;
  std::vector<std::size_t> arrived(size());
  std::deque<CountedMessage> messages;
  HeldAgents held(cluster());
  for (unsigned agent = 0; agent < size(); ++agent) {
    LoopCore& loop = *Access::home(bound(agent))->as_loop();
    for (std::size_t i = 0; i < many; ++i) {
      ASSERT_TRUE(loop.post_node(messages.emplace_back(arrived[agent])));
    }
  }
  std::atomic<std::size_t> arrived_here{many};
  const auto signal = AbortSignal::timeout(scheduler(), 0ms);
  const auto subscription =
      signal.on_abort([&] { arrived_here = arrived[agent_here(cluster()).value()]; });
  held.let_go();
  EXPECT_TRUE(comes_true([&] { return signal.aborted(); }));
  cluster().close(CloseMode::abort());
  EXPECT_LE(arrived_here, portions);
}

// Rule: CLU-3: who runs users' code looks for nothing any more.
TEST_P(ClusterTimeLimitFree, limit_of_an_agent_when_its_listener_waits_then_another_agent_runs_it) {
  const auto signal = AbortSignal::timeout(bound(0), 20ms);  // all agents sleep by then
  std::atomic<bool> ran{false};
  std::atomic<bool> has_waited{false};
  std::atomic<bool> ran_meanwhile{false};
  const auto subscription = signal.on_abort([&] {
    scheduler().post([&] { ran = true; });
    ran_meanwhile = comes_true([&] { return ran.load(); });
    has_waited = true;
  });
  while (!has_waited) std::this_thread::yield();
  EXPECT_TRUE(ran_meanwhile);
}

}  // namespace
}  // namespace heist::support
