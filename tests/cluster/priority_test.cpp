// Rules: CLU-1, PRI-1…4: which task of a cluster starts next.
#include <algorithm>

#include "cluster/cluster_fixture.hpp"

namespace heist::support {

using namespace detail;
namespace {

using testing::ElementsAre;

/// What starts, in the order in which one free agent starts it.
class ClusterPriority : public ClusterOf {
 protected:
  /// Posts a task that is noted by its label.
  void post(std::string label, const PostTaskOptions& options = {}) {
    post_to(scheduler(), std::move(label), options);
  }
  void post_to(const Scheduler& to, std::string label, const PostTaskOptions& options = {}) {
    ++posted_;
    to.post(tracked([this, label = std::move(label)] {
              trace.add(label);
              ++ran_;
            }),
            options);
  }
  /// All that was posted, on one agent while the others are held.
  std::vector<std::string> run_on(HeldAgents& held, unsigned agent) {
    held.let_go(agent);
    EXPECT_TRUE(comes_true([&] { return ran_ == posted_; }));
    return trace.take();
  }
  [[nodiscard]] int ran() const { return ran_.load(); }
  static void set_priorities_at_once(std::vector<TaskController>& controllers) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&controllers, i] {
        for (int turn = 0; turn < 300; ++turn) {
          for (auto& each : controllers) each.set_priority(priorities[(turn + i) % 3]);
        }
      });
    }
    for (auto& thread : threads) thread.join();
  }
  static constexpr TaskPriority priorities[] = {background, user_visible, user_blocking};

 private:
  std::atomic<int> posted_{0};
  std::atomic<int> ran_{0};
};
INSTANTIATE_TEST_SUITE_P(Sizes, ClusterPriority, sizes, size_name);

TEST_P(ClusterPriority, pick_when_one_agent_is_free_then_strictly_by_level) {
  HeldAgents held(cluster());
  const char* labels[] = {"0", "2", "4"};
  std::vector<std::string> expected;
  for (int i = 0; i < 300; ++i) post(labels[i * 7 % 3], {.priority = priorities[i * 7 % 3]});
  for (int level = 2; level >= 0; --level) expected.insert(expected.end(), 100, labels[level]);
  EXPECT_EQ(run_on(held, 0), expected);
}

TEST_P(ClusterPriority, pick_when_bound_and_stealable_mix_then_strictly_by_level) {
  HeldAgents held(cluster());
  const unsigned last = size() - 1;
  std::vector<std::string> expected;
  for (int i = 0; i < 90; ++i) {
    const auto priority = priorities[i % 3];
    const auto label = std::to_string(static_cast<int>(priority));
    post_to(i / 3 % 2 == 0 ? scheduler() : bound(last), label, {.priority = priority});
  }
  for (const char* label : {"2", "1", "0"}) expected.insert(expected.end(), 30, label);
  EXPECT_EQ(run_on(held, last), expected);
}

// Rules: CLU-1, ABT-4: what the abort's portions have not cleared away yet.
TEST_P(ClusterPriority, pick_when_the_most_urgent_bound_ones_were_aborted_then_strictly_by_level) {
  HeldAgents held(cluster());
  TaskController controller;
  Countdown left(2);
  bound(0).post([&] {
    for (int i = 0; i < 100; ++i) {
      bound(0).post([] {}, {.signal = controller.signal(), .priority = user_blocking});
    }
    bound(0).post([&] { trace.add("0"), left.done(); }, {.priority = background});
    scheduler().post([&] { trace.add("2"), left.done(); });
    controller.abort();
  });
  held.let_go(0);
  ASSERT_TRUE(left.ends());
  EXPECT_THAT(trace.take(), ElementsAre("2", "0"));
}

TEST_P(ClusterPriority, pick_when_a_task_posts_a_more_urgent_one_then_that_is_next) {
  HeldAgents held(cluster());
  for (int i = 0; i < 5; ++i) {
    scheduler().post(tracked([this] {
      trace.add("visible");
      post("blocking", {.priority = user_blocking});
    }));
  }
  post("background", {.priority = background});
  held.let_go(0);
  ASSERT_TRUE(comes_true([this] { return ran() == 6; }));
  const auto order = trace.take();
  ASSERT_EQ(order.size(), 11U);
  for (std::size_t i = 0; i < 10; i += 2) {
    EXPECT_EQ(order[i], "visible");
    EXPECT_EQ(order[i + 1], "blocking");
  }
}

TEST_P(ClusterPriority,
       pick_when_a_more_urgent_one_comes_from_outside_then_before_the_batch_taken) {
  HeldAgents held(cluster());
  test::Gate first_runs;
  test::Gate first_may_end;
  scheduler().post([&] { first_runs.open(), first_may_end.wait(); });
  for (int i = 0; i < 60; ++i) post("visible");
  held.let_go(0);
  first_runs.wait();  // with a batch of the others in its agent's own ring
  post("background", {.priority = background});
  post("blocking", {.priority = user_blocking});
  first_may_end.open();
  const auto order = run_on(held, 0);
  EXPECT_EQ(order.front(), "blocking");
  EXPECT_EQ(order.back(), "background");
}

// However many agents are free: when a task starts, the more urgent ones are with other agents, at
// most a bin each.
TEST_P(ClusterPriority, pick_when_all_agents_are_free_then_more_urgent_ones_have_been_taken) {
  constexpr int each = 400;
  const int in_transfer = static_cast<int>(size() - 1) * 31;
  std::atomic<int> started[3] = {};
  std::atomic<int> violations{0};
  Countdown left(3 * each);
  {
    const HeldAgents held(cluster());
    for (int i = 0; i < 3 * each; ++i) {
      const int level = i * 7 % 3;
      scheduler().post(
          [&, level] {
            ++started[level];
            for (int above = level + 1; above < 3; ++above) {
              if (started[above].load() + in_transfer < each) ++violations;
            }
            left.done();
          },
          {.priority = priorities[level]});
    }
  }
  EXPECT_TRUE(left.ends());
  EXPECT_EQ(violations.load(), 0);
}

TEST_P(ClusterPriority, set_priority_when_raised_then_queued_tasks_come_first) {
  HeldAgents held(cluster());
  TaskController controller(background);
  for (int i = 0; i < 3; ++i) post("dynamic", {.signal = controller.signal()});
  post("visible");
  controller.set_priority(user_blocking);
  EXPECT_THAT(run_on(held, 0), ElementsAre("dynamic", "dynamic", "dynamic", "visible"));
}

TEST_P(ClusterPriority, set_priority_when_lowered_then_queued_tasks_come_last) {
  HeldAgents held(cluster());
  TaskController controller(user_blocking);
  for (int i = 0; i < 3; ++i) post("dynamic", {.signal = controller.signal()});
  post("visible");
  controller.set_priority(background);
  EXPECT_THAT(run_on(held, size() - 1), ElementsAre("visible", "dynamic", "dynamic", "dynamic"));
}

TEST_P(ClusterPriority, set_priority_when_there_and_back_then_as_if_never) {
  HeldAgents held(cluster());
  TaskController controller(user_visible);
  post("dynamic", {.signal = controller.signal()});
  for (int i = 0; i < 100; ++i) {
    controller.set_priority(background);
    controller.set_priority(user_blocking);
    controller.set_priority(user_visible);
  }
  post("blocking", {.priority = user_blocking});
  post("background", {.priority = background});
  EXPECT_THAT(run_on(held, 0), ElementsAre("blocking", "dynamic", "background"));
}

TEST_P(ClusterPriority, set_priority_when_the_priority_is_explicit_then_it_stays) {
  HeldAgents held(cluster());
  TaskController controller(background);
  post("fixed", {.signal = controller.signal(), .priority = background});
  post("visible");
  controller.set_priority(user_blocking);
  EXPECT_THAT(run_on(held, 0), ElementsAre("visible", "fixed"));
}

TEST_P(ClusterPriority, set_priority_when_dependents_have_tasks_then_they_move_too) {
  HeldAgents held(cluster());
  TaskController controller(background);
  const auto dependent = TaskSignal::any({}, controller.signal());
  const auto fixed = TaskSignal::any({controller.signal()}, background);
  post("fixed", {.signal = fixed});
  post("dependent", {.signal = dependent});
  post("visible");
  controller.set_priority(user_blocking);
  EXPECT_THAT(run_on(held, 0), ElementsAre("dependent", "visible", "fixed"));
}

TEST_P(ClusterPriority, set_priority_when_several_signals_cross_then_each_by_its_own) {
  HeldAgents held(cluster());
  TaskController up(background);
  TaskController down(user_blocking);
  for (int i = 0; i < 2; ++i) {
    post("up", {.signal = up.signal()});
    post("down", {.signal = down.signal()});
  }
  post("visible");
  up.set_priority(user_blocking);
  down.set_priority(background);
  EXPECT_THAT(run_on(held, 0), ElementsAre("up", "up", "visible", "down", "down"));
}

TEST_P(ClusterPriority, set_priority_when_by_another_agents_task_then_counts_at_once) {
  HeldAgents held(cluster());
  const unsigned last = size() - 1;
  TaskController controller(background);
  post("dynamic", {.signal = controller.signal()});
  post("visible");
  bound(last).post([&] { controller.set_priority(user_blocking); }, {.priority = user_blocking});
  EXPECT_THAT(run_on(held, last), ElementsAre("dynamic", "visible"));
}

TEST_P(ClusterPriority,
       set_priority_when_several_threads_change_then_nothing_is_lost_and_the_last_wins) {
  HeldAgents held(cluster());
  std::vector<TaskController> controllers(3);
  for (int i = 0; i < 30; ++i)
    post("dynamic", {.signal = controllers[static_cast<std::size_t>(i % 3)].signal()});
  set_priorities_at_once(controllers);
  for (auto& each : controllers) each.set_priority(user_blocking);
  post("visible");
  auto order = run_on(held, 0);
  EXPECT_EQ(order.back(), "visible");
  EXPECT_EQ(order.size(), 31U);
}

TEST_P(ClusterPriority, set_priority_when_tasks_run_and_are_posted_meanwhile_then_each_runs_once) {
  std::vector<TaskController> controllers(3);
  constexpr int count = 3000;
  std::vector<std::atomic<int>> runs(count);
  Countdown left(count);
  std::thread changer([&] { set_priorities_at_once(controllers); });
  for (int i = 0; i < count; ++i) {
    auto& run = runs[static_cast<std::size_t>(i)];
    scheduler().post([&] { ++run, left.done(); },
                     {.signal = controllers[static_cast<std::size_t>(i % 3)].signal()});
  }
  changer.join();
  EXPECT_TRUE(left.ends());
  for (const auto& run : runs) EXPECT_EQ(run.load(), 1);
}

TEST_P(ClusterPriority, post_when_dynamic_then_first_in_first_out_within_a_signal) {
  HeldAgents held(cluster());
  const TaskController controller;
  std::vector<std::string> expected;
  for (int i = 0; i < 200; ++i) {
    expected.push_back(std::to_string(i));
    post(expected.back(), {.signal = controller.signal()});
  }
  EXPECT_EQ(run_on(held, 0), expected);
}

// Rule: CLU-2: nobody waits behind what is younger, as long as that keeps coming.
TEST_P(ClusterPriority, pick_when_many_are_posted_behind_a_signals_task_then_its_turn_comes) {
  HeldAgents held(cluster());
  const TaskController controller;
  std::atomic<int> rank{-1};
  std::atomic<int> started{0};
  constexpr int count = 3000;
  scheduler().post([&] { rank = started.fetch_add(1); }, {.signal = controller.signal()});
  for (int i = 0; i < count; ++i) scheduler().post([&] { ++started; });
  held.let_go();
  ASSERT_TRUE(comes_true([&] { return started == count + 1; }));
  EXPECT_LE(rank.load(), 500) << "younger ones that started before it";
}

TEST_P(ClusterPriority, pick_when_a_busy_agent_has_older_ones_then_their_turn_comes) {
  if (size() == 1) GTEST_SKIP() << "there is no other agent";
  std::atomic<int> rank{-1};
  std::atomic<int> started{0};
  constexpr int count = 3000;
  test::Gate posted;
  test::Gate end;
  HeldAgents held(cluster());
  const auto busy = bound(1).post_task([&] {
    scheduler().post([&] { rank = started.fetch_add(1); });
    posted.open();
    end.wait();
  });
  held.let_go(1);
  EXPECT_TRUE(posted.opens());
  for (int i = 0; i < count; ++i) scheduler().post([&] { ++started; });
  held.let_go(0);
  EXPECT_TRUE(comes_true([&] { return started == count + 1; }));
  end.open();
  EXPECT_TRUE(settles(busy));
  EXPECT_LE(rank.load(), 500) << "younger ones that started before it";
}

}  // namespace
}  // namespace heist::support
