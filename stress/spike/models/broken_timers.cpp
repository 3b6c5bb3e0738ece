// A limit that ADR 0011 states: an agent that is stopped while it searches.
#include <array>

#include "support.hpp"

using namespace heist::spike;
using namespace heist;

namespace {

/// A clock that stops who reads it, until a task has run: an agent stopped inside poll().
class StoppingClock {
 public:
  [[nodiscard]] Tick now() const noexcept {
    while (ran.load(sync::acquire) == 0) wait_on_word(ran, 0, {});
    return 0;
  }
  [[nodiscard]] static std::chrono::steady_clock::time_point deadline(Tick /*due*/) noexcept {
    return {};
  }
  void slept_until(Tick /*due*/) noexcept {}
  mutable sync::atomic<std::uint32_t> ran{0};
};
using StoppingCluster = SpikeCluster<small, StoppingClock>;

struct Stopper {
  void run() {
    clock.ran.store(1, sync::release);
    wake_all_on_word(clock.ran);
    cluster.stop();
  }
  StoppingClock clock;
  StoppingCluster cluster{clock};
};

}  // namespace

/// An agent stopped in poll() is a searcher when it was woken: posters leave the task to it, the other one sleeps.
HEIST_BLOCKING_MODEL_PROGRAM(broken_poll_stops_tasks, 1) {
  Stopper stopper;
  CallingTask<Stopper> task(stopper, &Stopper::run);
  CountedTask nothing;
  SpikeTimer timer;
  timer.due = 0;
  timer.task = &nothing;
  spawn([&] {
    stopper.cluster.arm(timer);
    stopper.cluster.post(task, 1);
  });
  spawn([&] { stopper.cluster.run(1); });
  stopper.cluster.run(0);
  join_all();
}
