// DLY-5: a delayed task is no hostage of the agent that armed it, or that slept until it was due.
#include <array>

#include "support.hpp"

using namespace heist::spike;
using namespace heist;

namespace {

/// A task that keeps its agent until the delayed one has run; that one stops the cluster.
struct Hostage {
  explicit Hostage(Cluster& where) noexcept : cluster(where) {
    timer.due = 5;
    timer.task = &delayed;
    timer.level = 1;
  }
  void arm() { cluster.arm(timer); }
  void wait() {
    while (ran.load(sync::acquire) == 0) wait_on_word(ran, 0, {});
  }
  void arm_and_wait() {
    arm();
    wait();
  }
  void end() {
    ran.store(1, sync::release);
    wake_all_on_word(ran);
    cluster.stop();
  }
  Cluster& cluster;
  CallingTask<Hostage> delayed{*this, &Hostage::end};
  CallingTask<Hostage> busy{*this, &Hostage::wait};
  CallingTask<Hostage> arms{*this, &Hostage::arm_and_wait};
  SpikeTimer timer;
  sync::atomic<std::uint32_t> ran{0};
};

}  // namespace

/// The agent that armed it is busy until it has run.
HEIST_BLOCKING_MODEL_PROGRAM(armer_is_busy, 2) {
  ModelClock clock;
  Cluster cluster(clock);
  Hostage hostage(cluster);
  cluster.post_bound(0, hostage.arms, 1);
  spawn([&] { cluster.run(1); });
  cluster.run(0);
  join_all();
}

/// It is armed from outside, while a task comes that keeps the agent that takes it: be it the watcher.
HEIST_BLOCKING_MODEL_PROGRAM(watcher_takes_a_task, 1) {
  ModelClock clock;
  Cluster cluster(clock);
  Hostage hostage(cluster);
  spawn([&] { hostage.arm(); });
  spawn([&] { cluster.post(hostage.busy, 2); });
  spawn([&] { cluster.run(1); });
  cluster.run(0);
  join_all();
}

/// A later one is armed already: the watcher sleeps too long, unless it is told.
HEIST_BLOCKING_MODEL_PROGRAM(earlier_deadline_comes, 1) {
  ModelClock clock;
  Cluster cluster(clock);
  Hostage hostage(cluster);
  SpikeTask later;
  later.run = [](SpikeTask&) {};
  SpikeTimer far;
  far.due = never >> 8;
  far.task = &later;
  cluster.arm(far);
  spawn([&] { hostage.arm(); });
  spawn([&] { cluster.post(hostage.busy, 2); });
  spawn([&] { cluster.run(1); });
  cluster.run(0);
  join_all();
}

/// A deadline beyond what fits beside the watcher does not pass for an early one.
HEIST_MODEL_PROGRAM(a_far_deadline, 0) {
  TimerKeeper keeper;
  check(keeper.try_watch(0, (Tick{1} << 56) + 1), "nobody watches");
  check(keeper.watch().until > 5, "who arms one for tick 5 wakes the watcher");
}
