// ForkDeque, and what its owner and thieves do with a fork: each continuation goes on once, behind
// what it needs (CLU-6).
#include <array>
#include <heist/detail/fork_frame.hpp>
#include <heist/detail/loop_node.hpp>
#include <optional>

#include "../cluster_queues.hpp"
#include "../support.hpp"
#include "cluster/queues/fork_deque.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

namespace {

constexpr LoopNodeOps continuation_ops{LoopNodeKind::forked, nullptr, nullptr};

/// A continuation: who takes it may use its frame.
struct Continuation : LoopNode {
  Continuation() noexcept : LoopNode(continuation_ops) {}
  int frame = 0;

  static void take(LoopNode* node) {
    if (node == nullptr) return;
    auto& taken = static_cast<Continuation&>(*node);
    check(taken.frame == 1, "it is taken once");
    taken.frame = 2;
  }
};

/// A call with children, one result each.
struct Parent {
  ChildCount children;
  std::array<int, 2> results{};
  int went_on = 0;
  int expected = 0;

  void go_on() {
    check(results[0] + results[1] == expected, "the children's results are there");
    check(++went_on == 1, "it goes on once");
  }
  void join() {
    if (children.wait()) go_on();
  }
  void end_child(std::size_t which) {
    results[which] = 1;
    if (children.end_child()) go_on();
  }
};

using Queues =
    ClusterQueues<ClusterSizes{.bins = 2, .bin = 2, .ring = 4, .forks = 2, .others_turn = 61},
                  TwoIdleAgents>;

/// Two agents, of which the second one goes to sleep beside what the first one does.
struct SleepBeside {
  void begin_sleep() {
    spawn([this] {
      sleepers.idle.begin_search();
      sleepers.idle.announce(1);
      sleeps = !queues.has_tasks(1);
    });
  }
  /// To be called after the first one has left something.
  void expect_awake() {
    if (join_all()) check(!sleeps || sleepers.woken == 1, "nobody sleeps on it");
  }

  TwoIdleAgents sleepers;
  Queues queues{2, sleepers};
  bool sleeps = false;
};

}  // namespace

/// The owner pushes and pops beside a thief; the deque is full, empty, and goes round.
HEIST_MODEL_PROGRAM(fork_deque_gives_each_continuation_to_one, 3) {
  ForkDeque<2> deque;
  std::array<Continuation, 4> continuations;
  spawn([&] {
    for (int i = 0; i < 3; ++i) Continuation::take(deque.steal());
  });
  for (Continuation& continuation : continuations) {
    continuation.frame = 1;
    while (!deque.push(continuation)) Continuation::take(deque.pop());
  }
  for (int i = 0; i < 2; ++i) Continuation::take(deque.pop());
  if (!join_all()) return;
  Continuation::take(deque.steal());
  for (const Continuation& continuation : continuations) {
    check(continuation.frame == 2, "none is lost");
  }
}

/// Two thieves and the owner at the last place.
HEIST_MODEL_PROGRAM(fork_deque_gives_the_last_to_one, 3) {
  ForkDeque<2> deque;
  std::array<Continuation, 2> continuations;
  for (int i = 0; i < 2; ++i) {
    spawn([&] {
      const Operation operation("steal a continuation");
      Continuation::take(deque.steal());
    });
  }
  for (Continuation& continuation : continuations) {
    const Operation operation("fork");
    continuation.frame = 1;
    check(deque.push(continuation), "there is room");
    LoopNode* own = deque.pop();
    check(own == nullptr || own == &continuation, "what is not stolen is the youngest");
    Continuation::take(own);
  }
  if (!join_all()) return;
  check(!deque.has_tasks() && deque.pop() == nullptr, "nothing is left");
  for (const Continuation& continuation : continuations) {
    check(continuation.frame == 2, "none is lost");
  }
}

/// Two children end beside their parent, which joins.
HEIST_MODEL_PROGRAM(two_children_against_join, 3) {
  Parent parent;
  parent.expected = 2;
  for (std::size_t child = 0; child < 2; ++child) {
    spawn([&parent, child] {
      const Operation operation("end a forked call");
      parent.end_child(child);
    });
  }
  parent.children.add();
  parent.children.add();
  {
    const Operation operation("join");
    parent.join();
  }
  if (!join_all()) return;
  check(parent.went_on == 1, "it goes on");
}

/// A child fails beside its parent, which ends without a join: the error is not lost.
HEIST_MODEL_PROGRAM(failed_child_against_end_of_parent, 2) {
  struct Call : ForkFrame {};
  Call parent;
  Call child;
  child.parent = &parent;
  child.fail_with(Reason(1));
  parent.children.add();
  spawn([&] {
    child.hand_error_to_parent();
    static_cast<void>(parent.children.end_child());
  });
  check(!parent.goes_before_caller(), "a call that has failed does not land");
  join_all();
}

/// The parent looks before it joins: what it sees ended is there, and the count begins anew.
HEIST_MODEL_PROGRAM(child_against_look, 3) {
  Parent parent;
  spawn([&] { parent.end_child(0); });
  parent.children.add();
  if (parent.children.all_ended()) {
    check(parent.results[0] == 1, "its result is there");
    check(parent.children.wait(), "nothing is left to wait for");
    return;
  }
  parent.expected = 1;
  parent.join();
  if (!join_all()) return;
  check(parent.went_on == 1, "it goes on");
}

/// A fork, its end, and a thief: the parent goes on in one place.
HEIST_MODEL_PROGRAM(end_of_child_against_theft, 3) {
  ForkDeque<2> deque;
  Continuation continuation;
  Parent parent;
  parent.expected = 1;
  continuation.frame = 1;
  check(deque.push(continuation), "there is room");
  spawn([&] {
    LoopNode* stolen = deque.steal();
    if (stolen == nullptr) return;
    Continuation::take(stolen);
    parent.children.add();
    parent.join();
  });
  parent.results[0] = 1;
  if (LoopNode* own = deque.pop()) {
    Continuation::take(own);  // the child lands in its frame
    parent.join();
  } else if (parent.children.end_child()) {
    parent.go_on();
  }
  if (!join_all()) return;
  check(parent.went_on == 1, "it goes on");
}

/// An agent forks while another one goes to sleep: that one sees the continuation, or is woken
/// (CLU-3). The agent has forked before, so it is noted already as one who has something.
HEIST_MODEL_PROGRAM(fork_against_sleep, 3) {
  SleepBeside cluster;
  Queues::Forks& forks = cluster.queues.forks(0, 1);
  Continuation continuation;
  check(cluster.queues.fork(0, forks, continuation, 1), "there is room");
  check(forks.pop() != nullptr, "nobody has taken it");
  cluster.begin_sleep();
  check(cluster.queues.fork(0, forks, continuation, 1), "there is room");
  cluster.expect_awake();
}

/// The same for what a task posts to its own agent's ring.
HEIST_MODEL_PROGRAM(own_post_against_sleep, 3) {
  SleepBeside cluster;
  std::array<Continuation, 2> tasks;
  cluster.queues.post_from(0, tasks[0], 0);
  check(cluster.queues.pick(1, -1) == &tasks[0], "it is there for others");
  cluster.begin_sleep();
  cluster.queues.post_from(0, tasks[1], 0);
  cluster.expect_awake();
}

/// An agent forks while another one lowers the hint: the next pick finds the continuation before
/// what is less urgent (CLU-1).
HEIST_MODEL_PROGRAM(fork_against_lowering, 3) {
  TwoIdleAgents sleepers;
  Queues queues(2, sleepers);
  Continuation first;
  Continuation second;
  first.frame = 1;
  second.frame = 1;
  Queues::Forks& forks = queues.forks(0, 3);
  check(queues.fork(0, forks, first, 3), "there is room");
  LoopNode* stolen = nullptr;
  spawn([&] { stolen = queues.pick(1, 0); });
  const bool ours = forks.pop() != nullptr;
  check(queues.fork(0, forks, second, 3), "there is room");
  if (!join_all()) return;
  if (stolen != nullptr) Continuation::take(stolen);
  if (stolen != &second) check(queues.pick(1, 0) == &second, "the most urgent is found");
  check(ours != (stolen == &first), "each goes to one");
}
