// Agents that fall asleep and are woken, over and over, with pauses of random lengths in between
// (CLU-3, DLY-5).
//
// I1  A task that is posted to a cluster that sleeps, or is about to, runs, be it stealable, bound
//     or delayed.
// I2  As many tasks as there are agents run at the same time, whether they come from outside or
//     from one of the agents.
// I3  A delayed task starts while one agent is free, and all others are kept busy until it has
//     started.
//
// Each cycle waits for what it has posted. If something never comes, the program prints the state
// of the cluster and ends.
//
// usage: [--sleeps N]   runs until agents have slept N times, however long that takes
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <heist/agent_cluster.hpp>
#include <heist/heist.hpp>
#include <optional>
#include <string_view>
#include <thread>

#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;
using std::chrono::microseconds;

struct Counts {
  std::uint64_t cycles = 0;
  std::uint64_t sleeps = 0;
  std::uint64_t wakeups = 0;
};

/// Counts the tasks of a cycle that have begun. The tasks do not outlive their cycle.
class Begun {
 public:
  void count() noexcept { begun_.fetch_add(1, sync::edge("stress:arrive", sync::acq_rel)); }
  [[nodiscard]] unsigned now() const noexcept {
    return begun_.load(sync::edge("stress:enter", sync::acquire));
  }

 private:
  sync::atomic<unsigned> begun_{0};
};

class SleepStress {
 public:
  explicit SleepStress(std::uint64_t cycles_each) : cycles_each_(cycles_each) {}

  void round(Random& random) {
    static constexpr std::array<unsigned, 7> sizes{1, 2, 2, 3, 4, 8, 80};
    AgentClusterOptions options;
    options.agents = sizes[random.below(sizes.size())];
    options.loop.tick = microseconds(20);
    if (!random.one_in(4)) options.loop.spin = options.loop.spin.zero();
    cluster_.emplace(std::move(options));
    ends_.store(false, sync::relaxed);  // relaxed: no other thread yet.
    std::optional<std::jthread> other;
    if (random.one_in(2)) other.emplace([this, seed = random()] { post_now_and_then(seed); });
    for (auto left = cycles_each_; left > 0; --left) cycle(random);
    ends_.store(true, sync::relaxed);  // relaxed: the join orders what was done.
    other.reset();
    counts_.sleeps += cluster_->stats().sleeps;
    counts_.wakeups += cluster_->stats().wakeups_sent;
    cluster_.reset();
  }

  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }

 private:
  void cycle(Random& random) {
    think(random);
    switch (random.below(16)) {
      case 0:
        meet_from_outside(random);
        break;
      case 1:
        meet_from_inside(random);
        break;
      case 2:
        start_delayed_beside_busy(random);
        break;
      case 3:
      case 4:
        run_one(bound(random), random);
        break;
      default:
        run_one(cluster_->scheduler(), random);
    }
    ++counts_.cycles;
  }

  /// Does nothing for a while: for no time at all, or for so long that all agents sleep.
  static void think(Random& random) {
    const volatile auto steps = random.below(random.one_in(2) ? 64 : 16'384);
    for (std::uint64_t i = 0; i < steps; ++i) {
    }
    if (random.one_in(1024)) std::this_thread::sleep_for(microseconds(random.below(300)));
  }
  Scheduler bound(Random& random) {
    return cluster_->agent(static_cast<unsigned>(random.below(cluster_->size()))).scheduler();
  }
  static PostTaskOptions options_of(Random& random) {
    PostTaskOptions options{.priority = static_cast<TaskPriority>(random.below(3))};
    if (random.one_in(16)) options.delay = microseconds(random.below(100));
    return options;
  }
  void post_now_and_then(std::uint64_t seed) {
    Random random(seed);
    while (!ends_.load(sync::relaxed)) {  // relaxed: ends the loop.
      think(random);
      run_one(cluster_->scheduler(), random);
    }
  }

  void run_one(const Scheduler& to, Random& random) {
    Begun begun;
    to.post([&begun] { begun.count(); }, options_of(random));
    wait_for([&begun] { return begun.now() == 1; }, "I1: a task was never run");
  }

  /// Tests I2. Each of these tasks keeps its agent until all have begun. None touches `begun` after
  /// it has counted itself as ended.
  void meet(Begun& begun, Begun& ended) {
    begun.count();
    wait_for([&] { return begun.now() == cluster_->size(); },
             "I2: an agent sleeps beside a task that nobody runs");
    ended.count();
  }
  void meet_from_outside(Random& random) {
    Begun begun;
    Begun ended;
    for (unsigned i = 0; i < cluster_->size(); ++i) {
      if (random.one_in(4)) think(random);
      cluster_->scheduler().post([&] { meet(begun, ended); }, options_of(random));
    }
    wait_for([&] { return ended.now() == cluster_->size(); }, "I2: tasks from outside");
  }
  void meet_from_inside(Random& random) {
    Begun begun;
    Begun ended;
    cluster_->scheduler().post([&, seed = random()] {
      Random own(seed);
      for (unsigned i = 1; i < cluster_->size(); ++i) {
        if (own.one_in(4)) think(own);
        cluster_->scheduler().post([&] { meet(begun, ended); }, options_of(own));
      }
      meet(begun, ended);
    });
    wait_for([&] { return ended.now() == cluster_->size(); }, "I2: tasks from a task");
  }

  /// Tests I3. All agents but one are busy until a delayed task has begun. One of them, or a thread
  /// outside, has posted that task.
  void start_delayed_beside_busy(Random& random) {
    const unsigned busy = cluster_->size() - 1;
    Begun begun;
    Begun ended;
    const auto arm = [&](Random& own) {
      cluster_->scheduler().post([&] { begun.count(); }, {.delay = microseconds(own.below(200))});
    };
    const bool from_inside = busy != 0 && random.one_in(2);
    // All tasks are bound or none is, so that no task stands behind another one.
    const bool are_bound = random.one_in(2);
    if (!from_inside) arm(random);
    for (unsigned i = 0; i < busy; ++i) {
      const bool arms = from_inside && i == 0;
      const Scheduler to = are_bound ? cluster_->agent(i).scheduler() : cluster_->scheduler();
      to.post([&, arms, seed = random()] {
        Random own(seed);
        if (arms) arm(own);
        wait_for([&] { return begun.now() == 1; },
                 "I3: a delayed task never starts while agents are busy");
        ended.count();
      });
    }
    wait_for([&] { return begun.now() == 1 && ended.now() == busy; }, "I3: a delayed task");
  }

  template <std::predicate Condition>
  void wait_for(Condition&& condition, const char* what) {
    if (comes_true(condition)) return;
    const ClusterStats stats = cluster_->stats();
    std::printf("cycle %llu, %u agents: ran %llu, wake-ups %llu, sleeps %llu\n",
                printable(counts_.cycles), cluster_->size(), printable(stats.tasks_run),
                printable(stats.wakeups_sent), printable(stats.sleeps));
    for (unsigned i = 0; i < cluster_->size(); ++i) {
      const EventLoopStats loop = cluster_->agent(i).stats();
      std::printf("agent %u: ran %llu, wake-ups %llu, sleeps %llu\n", i, printable(loop.tasks_run),
                  printable(loop.wakeups_sent), printable(loop.sleeps));
    }
    check(false, what);
  }

  std::uint64_t cycles_each_;
  std::optional<AgentCluster> cluster_;
  sync::atomic<bool> ends_{false};
  Counts counts_;
};

}  // namespace

int main(int argc, char** argv) {
  std::string_view sleeps = "0";
  const auto options = parse("cluster_sleep_stress", {argv, static_cast<std::size_t>(argc)},
                             {{"--sleeps", &sleeps}});
  const std::uint64_t wanted = number_of("--sleeps", sleeps);
  SleepStress stress(wanted == 0 ? 1000 : 20'000);
  Random random(options.seed);
  const Counts& counts = stress.counts();
  const auto is_enough = [&counts] { return counts.sleeps > 0; };
  auto rounds = run_rounds(options, [&stress](Random& own) { stress.round(own); }, is_enough);
  for (; counts.sleeps < wanted; ++rounds) {
    stress.round(random);
    if (rounds % 16 != 0) continue;
    std::printf("%llu of %llu sleeps\n", printable(counts.sleeps), printable(wanted));
    std::fflush(stdout);
  }
  std::printf("rounds %llu, cycles %llu, sleeps %llu, wake-ups %llu\n", printable(rounds),
              printable(counts.cycles), printable(counts.sleeps), printable(counts.wakeups));
  check(options.duration.count() == 0 || is_enough(), "no agent ever slept");
}
