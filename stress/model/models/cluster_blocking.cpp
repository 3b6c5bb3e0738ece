// blocking() in a cluster: a reserve picks in the place of a member that blocks, and stands down
// when that one is back.
#include <heist/agent_cluster.hpp>

#include "../cluster.hpp"
#include "cluster/reserves.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;
using std::chrono::milliseconds;

namespace {

/// Closed, then open for good.
class Door {
 public:
  void open() {
    open_.store(1, sync::release);
    wake_all_on_word(open_);
  }
  void pass() {
    while (open_.load(sync::acquire) == 0) wait_on_word(open_, 0, {});
  }

 private:
  sync::atomic<std::uint32_t> open_{0};
};

/// Agents, and reserves behind them that have their threads.
struct Blocked {
  explicit Blocked(unsigned agents, unsigned reserves = 1,
                   const EventLoopOptions& options = on_virtual_clock())
      : cluster(agents, options, {.count = reserves}) {
    for (unsigned index = agents; index < agents + reserves; ++index) {
      spawn([this, index] { cluster.run_reserve(index); });
    }
  }
  /// A task that blocks until the door opens.
  void post_blocking(const Scheduler& to) {
    to.post([this] { blocking([this] { door.pass(); }); });
  }
  /// One that opens it.
  void post_opening(const PostTaskOptions& options = {}) {
    cluster.scheduler().post([this] { door.open(); }, options);
  }
  /// The first agent: one task.
  void run_one_and_stop() {
    cluster.run_one(0);
    cluster.stop();
    join_all();
  }

  LoopCluster cluster;
  Door door;
};

}  // namespace

/// The only agent blocks until a task has run that another thread posts: the reserve runs it,
/// whenever it comes.
HEIST_BLOCKING_MODEL_PROGRAM(block_against_post, 1) {
  Blocked blocked(1);
  blocked.post_blocking(blocked.cluster.bound(0));
  spawn([&] { blocked.post_opening(); });
  blocked.run_one_and_stop();
}

/// The task lies behind the one that blocks, in the same bin: the agent has it in its ring.
HEIST_BLOCKING_MODEL_PROGRAM(block_before_a_task_in_the_own_ring, 2) {
  Blocked blocked(1);
  blocked.post_blocking(blocked.cluster.scheduler());
  blocked.post_opening();
  blocked.run_one_and_stop();
}

/// It blocks twice: the reserve may be standing down, or going to sleep, as it is needed again.
HEIST_BLOCKING_MODEL_PROGRAM(block_again_against_stand_down, 1) {
  Blocked blocked(1);
  blocked.cluster.bound(0).post([&] {
    blocking([] {});
    blocked.post_opening();
    blocking([&] { blocked.door.pass(); });
  });
  blocked.run_one_and_stop();
}

/// The agent is back before the reserve has come: whichever of the two runs the tasks, they run.
HEIST_BLOCKING_MODEL_PROGRAM(return_against_posts, 1) {
  Blocked blocked(1);
  sync::atomic<int> ran{0};
  blocked.cluster.bound(0).post([] { blocking([] {}); });
  spawn([&] {
    for (int i = 0; i < 2; ++i) {
      blocked.cluster.scheduler().post([&] {
        if (ran.fetch_add(1, sync::acq_rel) == 1) blocked.cluster.stop();
      });
    }
  });
  blocked.cluster.run(0);
  join_all();
  check(ran.load(sync::acquire) == 2, "both ran");
}

/// A reserve that is not needed any more was woken for a task, or has taken it: another agent
/// sleeps no longer.
HEIST_BLOCKING_MODEL_PROGRAM(stand_down_leaves_nothing, 0) {
  Blocked blocked(2);
  Meeting meeting(2);
  sync::atomic<int> ran{0};
  blocked.cluster.bound(0).post([&] {
    blocking([] {});
    for (int i = 0; i < 2; ++i) {
      blocked.cluster.scheduler().post([&] {
        meeting();
        if (ran.fetch_add(1, sync::acq_rel) == 1) blocked.cluster.stop();
      });
    }
  });
  spawn([&] { blocked.cluster.run(1); });
  blocked.cluster.run(0);
  join_all();
}

/// More block than there are reserves for: one is back, and so the reserve goes on for the other
/// one.
HEIST_BLOCKING_MODEL_PROGRAM(one_reserve_for_two, 0) {
  Blocked blocked(2);
  Door first;
  blocked.cluster.bound(0).post([&] { blocking([&] { first.pass(); }); });
  blocked.cluster.bound(1).post([&] {
    blocking([&] {
      first.open();
      blocked.door.pass();
    });
  });
  spawn([&] { blocked.cluster.run_one(1); });
  blocked.cluster.run_one(0);
  blocked.post_opening();
  blocked.door.pass();
  blocked.cluster.stop();
  join_all();
}

/// What is delayed comes on time while the only agent blocks.
HEIST_BLOCKING_MODEL_PROGRAM(block_against_timer, 1) {
  const ModelTime time;
  Blocked blocked(1, 1, on_model_time());
  blocked.post_blocking(blocked.cluster.bound(0));
  spawn([&] { blocked.post_opening({.delay = milliseconds(5)}); });
  blocked.run_one_and_stop();
}

/// What is bound to a reserve runs though it is not needed.
HEIST_BLOCKING_MODEL_PROGRAM(bound_post_against_rest, 0) {
  Blocked blocked(1);
  blocked.cluster.bound(1).post([&] { blocked.door.open(); });
  spawn([&] { blocked.cluster.bound(0).post([] { blocking([] {}); }); });
  blocked.cluster.run_one(0);
  blocked.door.pass();
  blocked.cluster.stop();
  join_all();
}

/// Draining: all of it has run, also what a task posts after it has blocked, or what a reserve's
/// does.
HEIST_BLOCKING_MODEL_PROGRAM(a_drain_waits_for_who_blocks, 0) {
  Blocked blocked(1);
  bool has_run = false;
  blocked.cluster.bound(0).post([&] {
    blocking([] {});
    blocked.cluster.bound(1).post([&] { has_run = true; });
  });
  spawn([&] { blocked.cluster.run(0); });
  CloseTerms terms;
  terms.tighten(CloseMode::drain());
  blocked.cluster.core().closing().wait_until_quiet(terms);
  check(has_run, "what tasks post while it drains runs");
  blocked.cluster.stop();
  join_all();
}

namespace {

/// Reserves in groups of one.
class SmallGroups {
 public:
  void block(std::optional<unsigned> own = {}) {
    reserves_.enter(own, [this](unsigned rank) { wake(rank); });
  }
  void go_on(std::optional<unsigned> own = {}) {
    reserves_.leave(own, [this](unsigned rank) { wake(rank); });
  }
  /// Of all that are present, those that are not needed stand down.
  void check_needed(int blocked) {
    int present = 0;
    for (const unsigned rank : {0U, 1U}) {
      if (reserves_.is_present(rank) && !reserves_.stand_down(rank)) ++present;
    }
    check(present == blocked, "as many are present as are needed");
  }

 private:
  void wake(unsigned rank) { check(!reserves_.is_at_rest(rank), "who is woken rests no more"); }

  Reserves reserves_{2, 1};
};

}  // namespace

/// Both reserves have a place to take. A member blocks for which there is none, while another one
/// goes on: its reserve takes the new place.
HEIST_MODEL_PROGRAM(block_without_reserve_against_return, 3) {
  SmallGroups groups;
  for (int i = 0; i < 2; ++i) groups.block();
  spawn([&] { groups.block(); });
  spawn([&] { groups.go_on(); });
  if (join_all()) groups.check_needed(2);
}

/// The only reserve that is left is in a task of its own, and comes back from that.
HEIST_MODEL_PROGRAM(block_without_reserve_against_return_of_a_reserve, 3) {
  SmallGroups groups;
  groups.block();
  groups.block(1);
  spawn([&] { groups.block(); });
  spawn([&] { groups.go_on(1); });
  if (join_all()) groups.check_needed(2);
}

/// The same with two that go on: one of them may take the place that is being moved.
HEIST_MODEL_PROGRAM(block_without_reserve_against_two_returns, 3) {
  SmallGroups groups;
  for (int i = 0; i < 2; ++i) groups.block();
  spawn([&] { groups.block(); });
  for (int i = 0; i < 2; ++i) {
    spawn([&] { groups.go_on(); });
  }
  if (!join_all()) return;
  groups.check_needed(1);
  groups.go_on();
  groups.check_needed(0);
}

/// Two block so, while two go on: what one of them gives back, the other may have missed.
HEIST_MODEL_PROGRAM(two_block_without_reserve_against_two_returns, 2) {
  SmallGroups groups;
  for (int i = 0; i < 2; ++i) groups.block();
  for (int i = 0; i < 2; ++i) {
    spawn([&] { groups.block(); });
    spawn([&] { groups.go_on(); });
  }
  if (!join_all()) return;
  groups.check_needed(2);
  groups.go_on();
  groups.check_needed(1);
}

namespace {

/// The system has no thread to give.
class NoThreads final : public ReserveThreads {
 public:
  explicit NoThreads(LoopCluster*& cluster) : cluster_(cluster) {}
  void wake_reserve(unsigned member) noexcept override {
    ++asked_;
    cluster_->member(member).withdraw();
  }
  [[nodiscard]] int asked() const { return asked_; }

 private:
  LoopCluster*& cluster_;
  int asked_ = 0;
};

}  // namespace

/// Then blocking() is a call, and the next one asks again.
HEIST_MODEL_PROGRAM(a_thread_that_does_not_start, 0) {
  LoopCluster* at = nullptr;
  NoThreads threads(at);
  LoopCluster cluster(1, on_virtual_clock(), {.count = 1, .threads = &threads});
  at = &cluster;
  int ran = 0;
  for (int i = 0; i < 2; ++i) {
    cluster.scheduler().post([&] { blocking([&] { ++ran; }); });
  }
  cluster.run_until_idle(0);
  check(ran == 2 && threads.asked() == 2, "both ran");
}
