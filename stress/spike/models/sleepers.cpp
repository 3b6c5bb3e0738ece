// CLU-3: nobody sleeps while a runnable task is unclaimed; no wake-up is lost.
#include <array>

#include "support.hpp"

using namespace heist::spike;
using namespace heist;

namespace {

/// Tasks that need as many agents at the same time as there are tasks: each waits until all have started. The last one
/// stops the cluster.
struct Meeting {
  Meeting(Cluster& where, std::uint32_t size) noexcept : cluster(where), all(size) {}
  struct Task : CallingTask<Meeting> {
    explicit Task(Meeting& meeting) noexcept : CallingTask(meeting, &Meeting::meet) {}
  };
  void meet() {
    auto now = started.fetch_add(1, sync::acq_rel) + 1;
    if (now == all) {
      wake_all_on_word(started);
    } else {
      while ((now = started.load(sync::acquire)) < all) wait_on_word(started, now, {});
    }
    if (ended.fetch_add(1, sync::acq_rel) + 1 == all) cluster.stop();
  }
  Cluster& cluster;
  std::uint32_t all;
  sync::atomic<std::uint32_t> started{0};
  sync::atomic<std::uint32_t> ended{0};
};

}  // namespace

/// Each of two tasks, from two posters, gets an agent at once.
HEIST_BLOCKING_MODEL_PROGRAM(two_posts_wake_two_agents, 1) {
  ModelClock clock;
  Cluster cluster(clock);
  Meeting meeting(cluster, 2);
  std::array<Meeting::Task, 2> tasks{Meeting::Task(meeting), Meeting::Task(meeting)};
  for (auto& task : tasks) spawn([&] { cluster.post(task, 1); });
  spawn([&] { cluster.run(1); });
  cluster.run(0);
  join_all();
}

/// Both tasks come in one bin: who takes it leaves the other one to the other agent.
HEIST_BLOCKING_MODEL_PROGRAM(a_bin_wakes_two_agents, 2) {
  ModelClock clock;
  Cluster cluster(clock);
  Meeting meeting(cluster, 2);
  std::array<Meeting::Task, 2> tasks{Meeting::Task(meeting), Meeting::Task(meeting)};
  spawn([&] {
    for (auto& task : tasks) cluster.post(task, 1);
  });
  spawn([&] { cluster.run(1); });
  cluster.run(0);
  join_all();
}

/// A task posts the other one, to its own agent's ring.
HEIST_BLOCKING_MODEL_PROGRAM(an_own_post_wakes_the_other_agent, 2) {
  ModelClock clock;
  Cluster cluster(clock);
  Meeting meeting(cluster, 2);
  struct Fork {
    void run() {
      meeting.cluster.post_from(0, second, 2);
      meeting.meet();
    }
    Meeting& meeting;
    Meeting::Task second;
  } fork{meeting, Meeting::Task(meeting)};
  CallingTask<Fork> first(fork, &Fork::run);
  cluster.post_bound(0, first, 1);
  spawn([&] { cluster.run(1); });
  cluster.run(0);
  join_all();
}

/// A change of priority wakes nobody too few either.
HEIST_BLOCKING_MODEL_PROGRAM(shared_posts_wake_two_agents, 0) {
  ModelClock clock;
  Cluster cluster(clock);
  Cluster::Queue queue(0);
  Meeting meeting(cluster, 2);
  std::array<Meeting::Task, 2> tasks{Meeting::Task(meeting), Meeting::Task(meeting)};
  for (auto& task : tasks) spawn([&] { cluster.post(task, queue); });
  spawn([&] { cluster.set_level(queue, 2); });
  spawn([&] { cluster.run(1); });
  cluster.run(0);
  join_all();
}
