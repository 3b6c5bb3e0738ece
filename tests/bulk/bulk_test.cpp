// bulk, bulk_chunked and bulk_unchunked on the schedulers of heist.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <heist/heist.hpp>
#include <set>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

// clang-format off: the library of senders comes before what needs it.
#include "execution/probe.hpp"
#include <heist/bulk.hpp>
// clang-format on

namespace heist::execution {
namespace {

/// Until another thread has done something.
template <class Condition>
void wait_for(Condition&& condition) {
  while (!condition()) std::this_thread::yield();
}

/// How often each index was called.
class Calls {
 public:
  explicit Calls(int count) : calls_(static_cast<std::size_t>(count)) {}
  void note(int index) { ++calls_.at(static_cast<std::size_t>(index)); }
  [[nodiscard]] bool each_once() const {
    for (const auto& calls : calls_)
      if (calls != 1) return false;
    return true;
  }

 private:
  std::vector<std::atomic<int>> calls_;
};

static_assert(ex::scheduler<BulkScheduler<TaskScheduler>>);
static_assert(ex::scheduler<BulkScheduler<SignalScheduler>>);

class BulkOn : public testing::TestWithParam<unsigned> {
 protected:
  AgentCluster cluster{{.agents = GetParam()}};
  BulkScheduler<TaskScheduler> sched = with_parallel_bulk(as_scheduler(cluster.scheduler()));
};
INSTANTIATE_TEST_SUITE_P(Agents, BulkOn, testing::Values(1U, 2U, 8U));

// Rule: SND-9
TEST_P(BulkOn, bulk_when_a_value_comes_before_then_each_index_gets_it_and_it_goes_on) {
  Calls calls(10'000);
  const auto answer = ex::sync_wait(ex::schedule(sched) | ex::then([] { return 7; }) |
                                    ex::bulk(ex::par, 10'000, [&](int index, int& value) noexcept {
                                      if (value == 7) calls.note(index);
                                    }));
  EXPECT_TRUE(calls.each_once());
  EXPECT_EQ(std::get<0>(answer.value()), 7);
}

// Rule: SND-9
TEST_P(BulkOn, bulk_chunked_when_it_runs_then_its_parts_are_all_indexes) {
  Calls calls(10'000);
  ex::sync_wait(ex::schedule(sched) |
                ex::bulk_chunked(ex::par_unseq, 10'000, [&](int begin, int end) {
                  for (; begin != end; ++begin) calls.note(begin);
                }));
  EXPECT_TRUE(calls.each_once());
}

// Rule: SND-9
TEST_P(BulkOn, bulk_unchunked_when_indexes_wait_for_each_other_then_all_agents_take_part) {
  const unsigned agents = GetParam();
  std::atomic<unsigned> arrived{0};
  ex::sync_wait(ex::schedule(sched) | ex::bulk_unchunked(ex::par, agents, [&](unsigned) {
                  ++arrived;
                  wait_for([&] { return arrived == agents; });
                }));
  EXPECT_EQ(arrived, agents);
}

// Rule: SND-9
TEST_P(BulkOn, bulk_when_a_sender_comes_to_the_cluster_then_all_agents_take_part) {
  const unsigned agents = GetParam();
  std::atomic<unsigned> arrived{0};
  const auto wait_for_each_other = ex::bulk_unchunked(ex::par, agents, [&](unsigned) {
    ++arrived;
    wait_for([&] { return arrived % agents == 0; });
  });
  ex::sync_wait(ex::continues_on(ex::just(), sched) | wait_for_each_other);
  EXPECT_EQ(arrived, agents);
  ex::sync_wait(sched.schedule_after(std::chrono::microseconds(1)) | wait_for_each_other);
  EXPECT_EQ(arrived, 2 * agents);
#ifdef HEIST_TESTS_USE_STDEXEC
  ex::sync_wait(ex::starts_on(sched, ex::just() | wait_for_each_other));
  EXPECT_EQ(arrived, 3 * agents);
#endif
}

// Rule: SND-9
TEST_P(BulkOn, bulk_when_the_policy_is_sequenced_then_one_agent_calls_in_order) {
  std::vector<int> indexes;
  ex::sync_wait(ex::schedule(sched) |
                ex::bulk(ex::seq, 100, [&](int index) { indexes.push_back(index); }));
  ASSERT_EQ(indexes.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(indexes[static_cast<std::size_t>(i)], i);
}

// Rule: SND-9
TEST_P(BulkOn, bulk_when_there_is_no_index_then_it_completes) {
  const auto never = ex::bulk(ex::par, 0, [](int) { ADD_FAILURE(); });
  EXPECT_TRUE(ex::sync_wait(ex::schedule(sched) | never));
  const auto below = ex::bulk(ex::par, -1, [](int) { ADD_FAILURE(); });
  EXPECT_TRUE(ex::sync_wait(ex::schedule(sched) | below));
}

// Rule: SND-9
TEST_P(BulkOn, bulk_when_a_call_throws_then_that_is_its_error) {
  const auto fail = [](int index) {
    if (index == 500) throw std::runtime_error("no");
  };
  EXPECT_THROW(ex::sync_wait(ex::schedule(sched) | ex::bulk(ex::par, 10'000, fail)),
               std::runtime_error);
}

// Rule: SND-9
TEST_P(BulkOn, bulk_when_what_comes_before_fails_then_nothing_is_called) {
  const auto failing = ex::schedule(sched) | ex::then([] { throw std::runtime_error("no"); });
  EXPECT_THROW(
      ex::sync_wait(failing | ex::bulk(ex::par, 10, [](int) { ADD_FAILURE() << "called"; })),
      std::runtime_error);
}

constexpr long endless = 1L << 60;

// Rule: SND-9
TEST_P(BulkOn, abort_when_the_scheduler_has_a_signal_then_it_is_stopped) {
  TaskController controller;
  const auto followed = with_parallel_bulk(as_scheduler(cluster.scheduler(), controller.signal()));
  EXPECT_FALSE(ex::sync_wait(ex::schedule(followed) |
                             ex::bulk(ex::par, endless, [&](long) { controller.abort(); })));
}

// Rule: SND-9
TEST_P(BulkOn, abort_when_the_environment_has_a_signal_then_it_is_stopped) {
  TaskController controller;
  EXPECT_FALSE(ex::sync_wait(ex::write_env(
      ex::schedule(sched) | ex::bulk(ex::par, endless, [&](long) { controller.abort(); }),
      ex::prop{get_signal, controller.signal()})));
}

// Rule: SND-9
TEST_P(BulkOn, request_stop_when_it_runs_then_it_is_stopped) {
  exq::inplace_stop_source source;
  EXPECT_FALSE(ex::sync_wait(ex::write_env(
      ex::schedule(sched) | ex::bulk(ex::par, endless, [&](long) { source.request_stop(); }),
      ex::prop{exq::get_stop_token, source.get_token()})));
}

// Rule: SND-9
TEST_P(BulkOn, request_stop_when_a_call_throws_afterwards_then_it_is_stopped) {
  exq::inplace_stop_source source;
  const auto stop_and_throw = [&](long) {
    source.request_stop();
    throw std::runtime_error("after the stop");
  };
  EXPECT_FALSE(
      ex::sync_wait(ex::write_env(ex::schedule(sched) | ex::bulk(ex::par, endless, stop_and_throw),
                                  ex::prop{exq::get_stop_token, source.get_token()})));
}

// Rule: SND-9
TEST_P(BulkOn, close_when_bulk_waits_or_runs_then_it_ends_once) {
  const exq::inplace_stop_source source;
  for (int round = 0; round < 50; ++round) {
    AgentCluster closed({.agents = GetParam()});
    Ends ends;
    Calls calls(10'000);
    const auto all = ex::schedule(with_parallel_bulk(as_scheduler(closed.scheduler()))) |
                     ex::bulk(ex::par, 10'000, [&](int index) { calls.note(index); });
    auto stoppable =
        ex::connect(all, Probe{&ends, ex::prop{exq::get_stop_token, source.get_token()}});
    ex::start(stoppable);
    closed.close(CloseMode::abort());
    EXPECT_EQ(ends.all(), 1);
    EXPECT_EQ(ends.values == 1, calls.each_once());
  }
}

// Rule: SND-9
TEST_P(BulkOn, close_when_bulk_waits_that_cannot_be_stopped_then_it_completes) {
  for (int round = 0; round < 50; ++round) {
    AgentCluster closed({.agents = GetParam()});
    Ends ends;
    Calls calls(10'000);
    auto operation =
        ex::connect(ex::schedule(with_parallel_bulk(as_scheduler(closed.scheduler()))) |
                        ex::bulk(ex::par, 10'000, [&](int index) { calls.note(index); }),
                    Probe{&ends});
    ex::start(operation);
    closed.close(CloseMode::abort());
    EXPECT_EQ(ends.values, 1);
    EXPECT_EQ(ends.all(), 1);
    EXPECT_TRUE(calls.each_once());
  }
}

// Rule: SND-9
TEST(Bulk, bulk_when_it_is_in_the_background_then_helpers_leave_it_for_others) {
  AgentCluster cluster({.agents = 2});
  TaskController controller(TaskPriority::background);
  std::atomic<bool> has_helper{false};
  std::atomic<std::thread::id> caller{};
  const auto note_caller = ex::then([&] { caller = std::this_thread::get_id(); });
  const auto note_helper = [&](long) {
    if (std::this_thread::get_id() != caller.load()) has_helper = true;
  };
  const auto low = with_parallel_bulk(as_scheduler(cluster.scheduler(), controller.signal()));
  const auto done = to_promise(cluster.scheduler(), ex::schedule(low) | note_caller |
                                                        ex::bulk(ex::par, endless, note_helper));
  wait_for([&] { return has_helper.load(); });
  cluster.scheduler().post_task([] {}).get();  // both agents are in the loop: one has left it
  controller.abort();
  EXPECT_THROW(done.get(), AbortError);
}

// Rule: SND-9
TEST(Bulk, bulk_when_the_scheduler_is_of_a_loop_then_its_thread_calls_all) {
  EventLoop loop;
  std::set<std::thread::id> callers;
  const auto done = to_promise(
      loop.scheduler(),
      ex::schedule(with_parallel_bulk(as_scheduler(loop.scheduler()))) |
          ex::bulk(ex::par, 10'000, [&](int) { callers.insert(std::this_thread::get_id()); }));
  loop.run_until_idle();
  done.get();
  EXPECT_EQ(callers, std::set{std::this_thread::get_id()});
}

}  // namespace
}  // namespace heist::execution
