// DLY-5 where a sleep until a far deadline does not end by itself: who arms an earlier one must end it.
// (The engine lets a sleep with a deadline end at any time, and ModelClock jumps there, so that no sleep is too long.)
#include "support.hpp"

using namespace heist::spike;
using namespace heist;

namespace {

inline constexpr Tick far_away = never >> 8;

struct FarClock : ModelClock {
  [[nodiscard]] static std::optional<std::chrono::steady_clock::time_point> deadline(
      Tick due) noexcept {
    if (due == far_away) return {};
    return ModelClock::deadline(due);
  }
};
using FarCluster = SpikeCluster<small, FarClock>;

/// A timer is armed; one agent is kept by a task until another one, armed meanwhile, has run.
struct Waiting {
  explicit Waiting(Tick when) {
    first.due = when;
    first.task = &nothing;
    near.due = 5;
    near.task = &delayed;
    cluster.arm(first);
  }
  void wait() {
    while (ran.load(sync::acquire) == 0) wait_on_word(ran, 0, {});
  }
  void end() {
    ran.store(1, sync::release);
    wake_all_on_word(ran);
    cluster.stop();
  }
  void run() {
    spawn([this] { cluster.arm(near); });
    spawn([this] { cluster.run(1); });
    cluster.run(0);
    join_all();
  }
  FarClock clock;
  FarCluster cluster{clock};
  CountedTask nothing;
  CallingTask<Waiting> busy{*this, &Waiting::wait};
  CallingTask<Waiting> delayed{*this, &Waiting::end};
  SpikeTimer first;
  SpikeTimer near;
  sync::atomic<std::uint32_t> ran{0};
};

}  // namespace

/// The first of the two agents has a task of its own, and may have taken the timer over before.
HEIST_BLOCKING_MODEL_PROGRAM(earlier_deadline_wakes_the_watcher, 2) {
  Waiting waiting(far_away);
  waiting.cluster.post_bound(0, waiting.busy, 1);
  waiting.run();
}

/// Both are free.
HEIST_BLOCKING_MODEL_PROGRAM(earlier_deadline_wakes_one_of_two, 1) {
  Waiting waiting(far_away);
  waiting.run();
}

/// The first is due at once: its keeper looks at the arrivals again (I1), and is kept by a task then.
HEIST_BLOCKING_MODEL_PROGRAM(a_timer_comes_while_one_is_kept, 2) {
  Waiting waiting(0);
  waiting.cluster.post_bound(0, waiting.busy, 1);
  waiting.run();
}
