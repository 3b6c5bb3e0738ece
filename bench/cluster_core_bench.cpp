// What does a task cost in the cluster's core, as it stands in the prototype (docs/adr/0011)? Two agents that share
// what one thread posts, what they post themselves, and shared queues, beside Boost.Asio's and oneTBB's pools. Every
// run checks how many tasks ran and the sum of their payloads.
//
// Interleave: --benchmark_repetitions=7 --benchmark_enable_random_interleaving=true
//             --benchmark_report_aggregates_only=true
#include <benchmark/benchmark.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <array>
#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <heist/node_memory.hpp>
#include <thread>

#include "../stress/spike/cluster.hpp"

namespace bench {
namespace {

using namespace heist::spike;

constexpr std::int64_t batch = 200'000;

struct SteadyClock {
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] static Tick now() noexcept {
    return static_cast<Tick>(Clock::now().time_since_epoch().count());
  }
  [[nodiscard]] static Clock::time_point deadline(Tick due) noexcept {
    return Clock::time_point(Clock::duration(static_cast<std::int64_t>(due)));
  }
  static void slept_until(Tick /*due*/) noexcept {}
};
using Core = SpikeCluster<Sizes{}, SteadyClock>;

/// Counts of two agents, each on its own line.
class Counts {
 public:
  void add(unsigned agent, std::uint64_t payload) noexcept {
    auto& mine = agents_[agent];
    mine.sum += payload;
    mine.count.store(mine.count.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  void wait(std::int64_t expected) noexcept {
    while (count() != expected) std::this_thread::yield();
    if (agents_[0].sum + agents_[1].sum != static_cast<std::uint64_t>(expected)) std::abort();
    for (auto& agent : agents_) agent.sum = 0;
    for (auto& agent : agents_) agent.count.store(0, std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] std::int64_t count() const noexcept {
    std::int64_t sum = 0;
    for (const auto& agent : agents_) sum += agent.count.load(std::memory_order_acquire);
    return sum;
  }
  struct alignas(64) Agent {
    std::atomic<std::int64_t> count{0};
    std::uint64_t sum = 0;
  };
  std::array<Agent, 2> agents_;
};

thread_local unsigned this_agent = 0;
std::atomic<unsigned> agents_seen{0};

/// The agent of a peer's thread: the first one asked is 0.
unsigned peer_agent() {
  thread_local const unsigned index = agents_seen.fetch_add(1) % 2;
  return index;
}

struct Payload {
  Counts* counts;
  std::array<std::uint64_t, 4> words;
};

struct PostedTask : SpikeTask {
  explicit PostedTask(const Payload& what) noexcept : payload(what) {
    run = [](SpikeTask& task) {
      auto& self = static_cast<PostedTask&>(task);
      self.payload.counts->add(this_agent, self.payload.words[0]);
      heist::destroy_node(self);
    };
  }
  Payload payload;
};

/// Two agents on two threads.
class RunningCore {
 public:
  ~RunningCore() {
    core_.stop();
    for (auto& thread : threads_) thread.join();
  }
  Core& operator*() noexcept { return core_; }
  Core* operator->() noexcept { return &core_; }

 private:
  void run(unsigned agent) {
    this_agent = agent;
    core_.run(agent);
  }
  SteadyClock clock_;
  Core core_{clock_};
  std::array<std::thread, 2> threads_{std::thread([this] { run(0); }),
                                      std::thread([this] { run(1); })};
};

void done(benchmark::State& state) { state.SetItemsProcessed(state.iterations() * batch); }

void pool2_heist(benchmark::State& state) {
  Counts counts;
  RunningCore core;
  for (auto _ : state) {
    for (std::int64_t i = 0; i < batch; ++i) {
      core->post(*heist::make_node<PostedTask>(Payload{&counts, {1}}), 2);
    }
    counts.wait(batch);
  }
  done(state);
}

void pool2_heist_shared(benchmark::State& state) {
  Counts counts;
  Core::Queue queue(2);
  RunningCore core;
  for (auto _ : state) {
    for (std::int64_t i = 0; i < batch; ++i) {
      core->post(*heist::make_node<PostedTask>(Payload{&counts, {1}}), queue);
    }
    counts.wait(batch);
  }
  done(state);
}

void pool2_asio(benchmark::State& state) {
  Counts counts;
  boost::asio::thread_pool pool(2);
  for (auto _ : state) {
    for (std::int64_t i = 0; i < batch; ++i) {
      boost::asio::post(pool, [payload = Payload{&counts, {1}}] {
        payload.counts->add(peer_agent(), payload.words[0]);
      });
    }
    counts.wait(batch);
  }
  done(state);
}

void pool2_tbb(benchmark::State& state) {
  Counts counts;
  tbb::task_arena arena(2, 0);
  for (auto _ : state) {
    for (std::int64_t i = 0; i < batch; ++i) {
      arena.enqueue([payload = Payload{&counts, {1}}] {
        payload.counts->add(static_cast<unsigned>(tbb::this_task_arena::current_thread_index()) % 2,
                            payload.words[0]);
      });
    }
    counts.wait(batch);
  }
  done(state);
}

/// Each task posts the next one to its own agent's ring, where the other agent may steal it.
struct LinkTask : SpikeTask {
  LinkTask(Core& where, Counts& whose, std::int64_t how_many) noexcept
      : core(&where), counts(&whose), left(how_many) {
    run = [](SpikeTask& task) {
      auto& self = static_cast<LinkTask&>(task);
      if (self.left > 1) {
        self.core->post_from(
            this_agent, *heist::make_node<LinkTask>(*self.core, *self.counts, self.left - 1), 2);
      }
      Counts& sum = *self.counts;
      heist::destroy_node(self);
      sum.add(this_agent, 1);
    };
  }
  Core* core;
  Counts* counts;
  std::int64_t left;
};

void chain_heist(benchmark::State& state) {
  Counts counts;
  RunningCore core;
  for (auto _ : state) {
    core->post(*heist::make_node<LinkTask>(*core, counts, batch), 2);
    counts.wait(batch);
  }
  done(state);
}

/// One task posts all others from inside.
struct FanTask : SpikeTask {
  FanTask(Core& where, Counts& whose) noexcept : core(&where), counts(&whose) {
    run = [](SpikeTask& task) {
      auto& self = static_cast<FanTask&>(task);
      for (std::int64_t i = 1; i < batch; ++i) {
        self.core->post_from(this_agent, *heist::make_node<PostedTask>(Payload{self.counts, {1}}),
                             2);
      }
      self.counts->add(this_agent, 1);
      heist::destroy_node(self);
    };
  }
  Core* core;
  Counts* counts;
};

void fanout_heist(benchmark::State& state) {
  Counts counts;
  RunningCore core;
  for (auto _ : state) {
    core->post(*heist::make_node<FanTask>(*core, counts), 2);
    counts.wait(batch);
  }
  done(state);
}

void fanout_tbb(benchmark::State& state) {
  Counts counts;
  tbb::task_arena arena(2, 0);
  for (auto _ : state) {
    arena.enqueue([&] {
      const auto add = [&] {
        counts.add(static_cast<unsigned>(tbb::this_task_arena::current_thread_index()) % 2, 1);
      };
      tbb::task_group group;
      for (std::int64_t i = 1; i < batch; ++i) group.run(add);
      group.wait();
      add();
    });
    counts.wait(batch);
  }
  done(state);
}

/// One pick of an agent by itself: post to its ring, pick.
void push_and_pick(benchmark::State& state) {
  SteadyClock clock;
  Core core(clock);
  SpikeTask task;
  for (auto _ : state) {
    core.post_from(0, task, 2);
    if (core.pick(0) != &task) std::abort();
  }
}
/// The same through the bins.
void post_and_pick(benchmark::State& state) {
  SteadyClock clock;
  Core core(clock);
  SpikeTask task;
  for (auto _ : state) {
    core.post(task, 2);
    if (core.pick(0) != &task) std::abort();
  }
}
/// The same through a shared queue.
void post_shared_and_pick(benchmark::State& state) {
  SteadyClock clock;
  Core core(clock);
  Core::Queue queue(2);
  SpikeTask task;
  for (auto _ : state) {
    core.post(task, queue);
    if (core.pick(0) != &task) std::abort();
  }
}
/// A more urgent task comes and goes while the agent has others: the hint is raised, and lowered again.
void urgent_between(benchmark::State& state) {
  SteadyClock clock;
  Core core(clock);
  SpikeTask low;
  SpikeTask urgent;
  for (auto _ : state) {
    core.post_from(0, low, 0);
    core.post(urgent, 4);
    if (core.pick(0) != &urgent || core.pick(0) != &low) std::abort();
  }
}

BENCHMARK(pool2_heist)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(pool2_heist_shared)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(pool2_asio)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(pool2_tbb)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(chain_heist)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(fanout_heist)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(fanout_tbb)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(push_and_pick);
BENCHMARK(post_and_pick);
BENCHMARK(post_shared_and_pick);
BENCHMARK(urgent_between);

}  // namespace
}  // namespace bench
