// Rule: LIF-4, in a cluster: a post that fails changes nothing, and what is posted needs no more
//         memory.
#include <array>
#include <chrono>
#include <heist/agent_cluster.hpp>
#include <heist/heist.hpp>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "api/probes.hpp"
#include "cluster/cluster_fixture.hpp"
#include "counters/counting.hpp"

namespace heist::support {
namespace {

using namespace std::chrono_literals;
using test::NoMemory;

class ClusterMemory : public ClusterOf {
 protected:
  void SetUp() override {
    if (!test::memory_can_fail()) GTEST_SKIP() << "this sanitizer's allocator never fails";
    ClusterOf::SetUp();
  }
  /// How many nodes of each size the call needs; it has thrown std::bad_alloc with less.
  template <class Call>
  static std::size_t needs(Call call) {
    for (std::size_t nodes = 0;; ++nodes) {
      const NoMemory none(nodes);
      try {
        call();
        return nodes;
      } catch (const std::bad_alloc&) {
      }
    }
  }
  /// Until it goes, no agent has memory, and the caller has none.
  class NoneHasMemory {
   public:
    explicit NoneHasMemory(const AgentCluster& cluster) {
      for (unsigned agent = 0; agent < cluster.size(); ++agent) {
        const auto to = cluster.agent(agent).scheduler();
        agents_.push_back(
            to.post_task([] { return std::make_shared<NoMemory>(); }, {.priority = user_blocking})
                .get());
        ends_.push_back(to);
      }
      here_.emplace();
    }
    NoneHasMemory(const NoneHasMemory&) = delete;
    NoneHasMemory& operator=(const NoneHasMemory&) = delete;
    /// Precondition: the cluster is not closed.
    ~NoneHasMemory() {
      here_.reset();
      for (std::size_t i = 0; i < ends_.size(); ++i) {
        ends_[i].post_task([&last = agents_[i]] { last.reset(); }).get();
      }
    }

   private:
    std::vector<std::shared_ptr<NoMemory>> agents_;
    std::vector<Scheduler> ends_;
    std::optional<NoMemory> here_;
  };

  TaskController controller;
};
INSTANTIATE_TEST_SUITE_P(Sizes, ClusterMemory, several_agents, size_name);

TEST_P(ClusterMemory, post_task_when_memory_ends_at_any_step_then_bad_alloc_and_nothing_changed) {
  HeldAgents held(cluster());
  std::vector<Promise<void>> promises;
  promises.reserve(10);
  for (const auto& options :
       {PostTaskOptions{}, PostTaskOptions{.signal = controller.signal()},
        PostTaskOptions{.signal = TaskSignal::any({controller.signal()}, controller.signal())},
        PostTaskOptions{.signal = controller.signal(), .delay = 1h}}) {
    EXPECT_GT(needs([&] { promises.push_back(scheduler().post_task(note("ran"), options)); }), 0U);
  }
  EXPECT_EQ(callbacks.alive(), 4);
  controller.abort();
  held.let_go();
  for (std::size_t i = 0; i < promises.size(); ++i) {
    ASSERT_TRUE(settles(promises[i]));
    EXPECT_EQ(promises[i].status(), i == 0 ? PromiseStatus::fulfilled : PromiseStatus::rejected);
  }
  EXPECT_EQ(trace.take().size(), 1U);
}

TEST_P(ClusterMemory,
       post_when_a_signal_is_new_to_a_second_cluster_then_bad_alloc_and_nothing_changed) {
  AgentCluster other({.agents = 2});
  ASSERT_TRUE(settles(other.scheduler().post_task([] {}, {.signal = controller.signal()})));
  std::optional<Promise<void>> promise;
  const PostTaskOptions options{.signal = controller.signal()};
  EXPECT_GT(needs([&] { promise = scheduler().post_task(tracked([] {}), options); }), 0U);
  ASSERT_TRUE(settles(*promise));
  EXPECT_EQ(promise->status(), PromiseStatus::fulfilled);
}

TEST_P(ClusterMemory, then_when_memory_ends_at_any_step_then_bad_alloc_and_nothing_changed) {
  const auto promise = scheduler().post_task(
      [&] {
        auto source = scheduler().post_task([] { return 1; });
        std::optional<Promise<int>> reaction;
        EXPECT_GT(needs([&] { reaction = source.then([](int value) { return value + 1; }); }), 0U);
        return *reaction;
      },
      {.signal = controller.signal()});
  ASSERT_TRUE(settles(promise));
  EXPECT_EQ(promise.get(), 2);
}

TEST_P(ClusterMemory, tasks_when_memory_is_gone_then_they_run_expire_and_settle) {
  Countdown left(23);
  std::vector<Promise<void>> promises;
  std::optional<NoneHasMemory> none;
  {
    HeldAgents held(cluster());
    for (int i = 0; i < 10; ++i) {
      promises.push_back(scheduler().post_task([&] { left.done(); }));
      promises.push_back(
          scheduler().post_task([&] { left.done(); }, {.signal = controller.signal()}));
    }
    scheduler().post([&] { left.done(); }, {.delay = 200ms});
    scheduler().post([&] { left.done(); }, {.delay = 250ms});
    TaskController own;
    scheduler().post([&] { left.done(); }, {.signal = own.signal(), .delay = 200ms});
  }
  none.emplace(cluster());
  EXPECT_TRUE(left.ends());
  for (const auto& promise : promises) EXPECT_TRUE(settles(promise));
}

TEST_P(ClusterMemory, delays_of_a_signal_when_memory_is_gone_then_each_expires) {
  std::vector<Promise<void>> promises;
  for (const auto delay : {100ms, 200ms, 300ms, 400ms}) {
    promises.push_back(
        scheduler().post_task([] {}, {.signal = controller.signal(), .delay = delay}));
  }
  const NoneHasMemory none(cluster());
  for (const auto& promise : promises) EXPECT_TRUE(settles(promise));
}

TEST_P(ClusterMemory, set_priority_when_memory_ends_at_any_step_then_bad_alloc_or_it_is_done) {
  HeldAgents held(cluster());
  Countdown left(2);
  for (int i = 0; i < 2; ++i)
    scheduler().post([&] { left.done(); }, {.signal = controller.signal()});
  for (const auto priority : {background, user_blocking, user_visible, background}) {
    const auto before = controller.signal().priority();
    needs([&] {
      EXPECT_EQ(controller.signal().priority(), before);
      controller.set_priority(priority);
    });
    EXPECT_EQ(controller.signal().priority(), priority);
  }
  held.let_go();
  EXPECT_TRUE(left.ends());
}

TEST_P(ClusterMemory, abort_when_memory_is_gone_then_tasks_reject_and_go) {
  std::vector<Promise<void>> promises;
  for (int i = 0; i < 10; ++i) {
    promises.push_back(
        scheduler().post_task(note("ran"), {.signal = controller.signal(), .delay = 1h}));
  }
  const Reason reason("made before");
  {
    const NoneHasMemory none(cluster());
    controller.abort(reason);
    EXPECT_TRUE(comes_true([this] { return callbacks.alive() == 0; }));
  }
  for (const auto& promise : promises) EXPECT_EQ(promise.reason(), reason);
}

TEST_P(ClusterMemory, close_when_memory_is_gone_then_everything_rejects) {
  std::vector<Promise<void>> promises;
  for (int i = 0; i < 10; ++i) {
    promises.push_back(
        scheduler().post_task(note("ran"), {.signal = controller.signal(), .delay = 1h}));
    promises.push_back(scheduler().post_task(note("ran"), {.delay = 1h}));
  }
  {
    const NoMemory none;
    cluster().close(CloseMode::abort());
  }
  for (const auto& promise : promises) EXPECT_EQ(promise.status(), PromiseStatus::rejected);
}

/// Whether the cluster could be made, and runs tasks, with memory for so many allocations.
bool runs_with(std::uint64_t allocations) {
  std::optional<AgentCluster> cluster;
  try {
    const test::MemoryFor memory(allocations);
    cluster.emplace(AgentClusterOptions{.agents = 2, .reserves = 2});
  } catch (const std::bad_alloc&) {
    return false;
  }
  return cluster->scheduler().post_task([] { return true; }).get();
}

TEST(ClusterWithoutMemory, cluster_when_memory_ends_while_it_is_made_then_throws_and_is_gone) {
  if (!test::new_can_fail()) GTEST_SKIP() << "this sanitizer has its own operator new";
  constexpr std::uint64_t more_than_it_needs = 1000;
  std::uint64_t allocations = 0;
  while (!runs_with(allocations) && allocations < more_than_it_needs) ++allocations;
  EXPECT_GT(allocations, 10U);
  EXPECT_LT(allocations, more_than_it_needs);
}

}  // namespace
}  // namespace heist::support
