// Graphs of senders on clusters of 1, 2 and 8 agents.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <heist/heist.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "execution/probe.hpp"

namespace heist::execution {
namespace {

class SendersOn : public testing::TestWithParam<unsigned> {
 protected:
  AgentCluster cluster{{.agents = GetParam()}};
  TaskScheduler sched = as_scheduler(cluster.scheduler());
};
INSTANTIATE_TEST_SUITE_P(Agents, SendersOn, testing::Values(1U, 2U, 8U));

// Rule: SND-1
TEST_P(SendersOn, sync_wait_when_a_graph_runs_then_each_step_is_called_once) {
  std::atomic<int> calls{0};
  const auto step = ex::schedule(sched) | ex::then([&] { ++calls; });
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(ex::sync_wait(ex::when_all(step, step, step)));
  EXPECT_EQ(calls, 600);
}

// Rule: SND-3
TEST_P(SendersOn, continues_on_when_priorities_differ_then_each_part_has_its_own) {
  const auto urgent = as_scheduler(cluster.scheduler(), TaskPriority::user_blocking);
  const auto later = as_scheduler(cluster.scheduler(), TaskPriority::background);
  std::atomic<int> calls{0};
  const auto note = ex::then([&] { ++calls; });
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(ex::sync_wait(ex::continues_on(ex::schedule(urgent) | note, later) | note));
  }
  EXPECT_EQ(calls, 400);
}

using StopEnv = ex::prop<exq::get_stop_token_t, exq::inplace_stop_token>;
using SignalEnv = ex::prop<GetSignal, TaskSignal>;

/// Operations that free themselves when they end, so that whoever touches one after that is seen.
template <class Sender, class Env>
class OnHeap {
 public:
  static void start(const Sender& sender, Ends& ends, Env env) {
    auto* const self = new OnHeap(sender, ends, std::move(env));
    ex::start(self->operation_);
  }

 private:
  struct Ending {
    using receiver_concept = ReceiverTag;
    OnHeap* self;
    void set_value() noexcept { self->end(self->ends_.values); }
    void set_stopped() noexcept { self->end(self->ends_.stops); }
    [[nodiscard]] const Env& get_env() const noexcept { return self->env_; }
  };

  OnHeap(const Sender& sender, Ends& ends, Env env)
      : ends_(ends), env_(std::move(env)), operation_(ex::connect(sender, Ending{this})) {}
  void end(std::atomic<int>& count) noexcept {
    delete this;
    ++count;
  }

  Ends& ends_;
  Env env_;
  ex::connect_result_t<const Sender&, Ending> operation_;
};

/// Threads start operations before the work of `meanwhile`, during that, and after it.
template <class Sender, class Env, class Work>
int start_during(const Sender& sender, Ends& ends, const Env& env, Work&& meanwhile) {
  std::atomic<int> started{0};
  std::atomic<bool> ends_now{false};
  const auto start = [&] {
    while (!ends_now) {
      OnHeap<Sender, Env>::start(sender, ends, env);
      ++started;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) threads.emplace_back(start);
  while (started < 1'000) std::this_thread::yield();
  meanwhile();
  for (const int seen = started; started < seen + 1'000;) std::this_thread::yield();
  ends_now = true;
  for (auto& thread : threads) thread.join();
  return started;
}

// Rule: SND-5
TEST_P(SendersOn, close_when_threads_start_operations_then_each_ends_once) {
  exq::inplace_stop_source source;
  Ends ends;
  const int started =
      start_during(ex::schedule(sched), ends, StopEnv{exq::get_stop_token, source.get_token()},
                   [&] { cluster.close(CloseMode::abort()); });
  EXPECT_EQ(ends.all(), started);
  EXPECT_GE(ends.stops, 1);
}

// Rule: SND-2
TEST_P(SendersOn, request_stop_when_threads_start_operations_then_each_ends_once) {
  exq::inplace_stop_source source;
  Ends ends;
  const int started =
      start_during(ex::schedule(sched), ends, StopEnv{exq::get_stop_token, source.get_token()},
                   [&] { source.request_stop(); });
  cluster.close(CloseMode::drain());
  EXPECT_EQ(ends.all(), started);
  EXPECT_GE(ends.stops, 1);
}

// Rule: SND-8
TEST_P(SendersOn, request_stop_when_threads_start_delays_then_each_ends_once) {
  exq::inplace_stop_source source;
  Ends ends;
  const int started = start_during(sched.schedule_after(std::chrono::microseconds(100)), ends,
                                   StopEnv{exq::get_stop_token, source.get_token()},
                                   [&] { source.request_stop(); });
  auto mode = CloseMode::drain();
  mode.wait_for_delayed = true;
  cluster.close(mode);
  EXPECT_EQ(ends.all(), started);
  EXPECT_GE(ends.stops, 1);
}

// Rule: SND-4
TEST_P(SendersOn, abort_when_threads_start_operations_then_each_ends_once) {
  TaskController controller;
  Ends ends;
  const int started =
      start_during(ex::schedule(sched), ends, SignalEnv{get_signal, controller.signal()}, [&] {
        controller.set_priority(TaskPriority::user_blocking);
        controller.abort();
      });
  cluster.close(CloseMode::drain());
  EXPECT_EQ(ends.all(), started);
  EXPECT_GE(ends.stops, 1);
}

// Rule: SND-5
TEST_P(SendersOn, close_when_operations_wait_that_cannot_be_stopped_then_each_completes) {
  constexpr int count = 2'000;
  Ends ends;
  for (int i = 0; i < count; ++i)
    OnHeap<decltype(ex::schedule(sched)), NoEnv>::start(ex::schedule(sched), ends, {});
  cluster.close(CloseMode::abort());
  EXPECT_EQ(ends.values, count);
}

}  // namespace
}  // namespace heist::execution
