// CLU-3 and DLY-5 with three agents.
#include <array>

#include "support.hpp"

using namespace heist::spike;
using namespace heist;

namespace {

inline constexpr Sizes three{.agents = 3, .levels = 2, .bins = 2, .bin = 2, .ring = 2};
using Three = SpikeCluster<three, ModelClock>;

/// Tasks that must all be running at the same time; the last stops the cluster.
struct Gathering {
  explicit Gathering(std::uint32_t size) noexcept : all(size) {}
  void meet() {
    auto now = started.fetch_add(1, sync::acq_rel) + 1;
    if (now == all) {
      wake_all_on_word(started);
    } else {
      while ((now = started.load(sync::acquire)) < all) wait_on_word(started, now, {});
    }
    if (ended.fetch_add(1, sync::acq_rel) + 1 == all) cluster.stop();
  }
  void run() {
    for (unsigned agent = 1; agent < 3; ++agent) {
      spawn([this, agent] { cluster.run(agent); });
    }
    cluster.run(0);
    join_all();
  }
  ModelClock clock;
  Three cluster{clock};
  std::uint32_t all;
  sync::atomic<std::uint32_t> started{0};
  sync::atomic<std::uint32_t> ended{0};
};
using Meeting = CallingTask<Gathering>;

}  // namespace

/// Three posts of one poster, at two levels, wake three agents.
HEIST_BLOCKING_MODEL_PROGRAM(three_posts_wake_three_agents, 0) {
  Gathering gathering(3);
  Meeting first(gathering, &Gathering::meet);
  Meeting second(gathering, &Gathering::meet);
  Meeting third(gathering, &Gathering::meet);
  spawn([&] {
    gathering.cluster.post(first, 0);
    gathering.cluster.post(second, 1);
    gathering.cluster.post(third, 0);
  });
  gathering.run();
}

/// One of them is delayed: two agents are kept by tasks that wait for it.
HEIST_BLOCKING_MODEL_PROGRAM(a_timer_among_three_agents, 0) {
  Gathering gathering(3);
  Meeting first(gathering, &Gathering::meet);
  Meeting second(gathering, &Gathering::meet);
  Meeting third(gathering, &Gathering::meet);
  SpikeTimer timer;
  timer.due = 5;
  timer.task = &third;
  spawn([&] {
    gathering.cluster.post(first, 0);
    gathering.cluster.arm(timer);
    gathering.cluster.post(second, 1);
  });
  gathering.run();
}
