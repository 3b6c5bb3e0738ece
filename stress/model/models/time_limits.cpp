// Time limits that other threads set and drop (DLY-6, ABT-5), and what an agent leaves in its inbox
// (LIF-1).
#include <array>
#include <heist/heist.hpp>
#include <optional>

#include "../cluster.hpp"
#include "concurrent/inbox.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

/// Dropped at once, by two threads: each is taken back, or goes when it arrives, or by a message.
HEIST_MODEL_PROGRAM(limits_dropped_against_their_arrival, 2) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  for (int i = 0; i < 2; ++i) {
    spawn([&] {
      const Operation operation("set and drop a limit");
      static_cast<void>(AbortSignal::timeout(scheduler, Delay::never()));
    });
  }
  loop.run_until_idle();
  if (!join_all()) return;
  check(loop.pending() == 0, "nothing is left of them");
}

/// One is dropped while the other one stays: what is below the one that is taken back is there.
HEIST_MODEL_PROGRAM(limit_stays_when_one_goes, 1) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  std::optional<AbortSignal> stays;
  spawn([&] { stays = AbortSignal::timeout(scheduler, std::chrono::milliseconds(1)); });
  spawn([&] { static_cast<void>(AbortSignal::timeout(scheduler, Delay::never())); });
  loop.run_until_idle();
  if (!join_all()) return;
  check(loop.pending() == 1, "one is left");
  loop.advance(std::chrono::milliseconds(2));
  check(stays->aborted() && loop.pending() == 0, "it has ended");
}

/// Of two threads, to an agent that sleeps or is about to: none is forgotten.
HEIST_BLOCKING_MODEL_PROGRAM(limits_of_others_wake_an_agent, 1) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  std::array<std::optional<AbortSignal>, 2> signals;
  for (auto& signal : signals) {
    spawn([&] { signal = AbortSignal::timeout(scheduler, Delay()); });
  }
  for (std::size_t i = 0; i < signals.size(); ++i) loop.run_one();
  join_all();
  for (const auto& signal : signals) check(signal->aborted(), "each has ended");
}

/// Of two threads, to a cluster whose agent sleeps until later than one of them ends: that one is
/// seen, although the thread that tells of both has set the later one.
HEIST_BLOCKING_MODEL_PROGRAM(limits_of_others_wake_a_cluster, 1) {
  ModelTime time;
  LoopCluster cluster(1, on_model_time());
  const Scheduler scheduler = cluster.scheduler();
  scheduler.post([] { check(false, "it is not due"); }, {.delay = ModelTime::beyond_range});
  std::array<std::optional<AbortSignal>, 2> signals;
  spawn([&] { signals[0] = AbortSignal::timeout(scheduler, ModelTime::beyond_range); });
  spawn([&] { signals[1] = AbortSignal::timeout(scheduler, std::chrono::milliseconds(5)); });
  cluster.run_one(0);
  join_all();
  check(signals[1]->aborted(), "it has ended");
}

/// While the loop closes: it is refused, or dropped with the rest.
HEIST_MODEL_PROGRAM(limit_against_close, 3) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  std::optional<AbortSignal> kept;
  spawn([&] {
    kept = AbortSignal::timeout(scheduler, Delay::never());
    static_cast<void>(AbortSignal::timeout(scheduler, Delay::never()));
  });
  loop.close(CloseMode::abort());
  if (join_all()) check(!kept->aborted(), "it never aborts");
}

/// The same in a cluster, whose keeper takes it up.
HEIST_MODEL_PROGRAM(limit_against_the_close_of_a_cluster, 1) {
  LoopCluster cluster(1);
  const Scheduler scheduler = cluster.scheduler();
  spawn([&] {
    const auto kept = AbortSignal::timeout(scheduler, Delay::never());
    static_cast<void>(AbortSignal::timeout(scheduler, Delay::never()));
  });
  cluster.close(0);
  join_all();
}

namespace {

struct Node : LoopNode {
  Node() noexcept : LoopNode(table) {}
  static constexpr LoopNodeOps table{LoopNodeKind::task, nullptr, nullptr};
};

}  // namespace

/// A closer counts what the agent has left, while that goes on with it: it reads no link that
/// changes.
HEIST_BLOCKING_MODEL_PROGRAM(count_against_what_is_left, 2) {
  Inbox inbox;
  std::array<Node, 3> nodes;
  for (Node& node : nodes) static_cast<void>(inbox.post(node));
  spawn([&] {
    const Operation operation("count an inbox");
    check(inbox.count_tasks() <= 3, "no more than there are");
  });
  std::size_t arrived = 0;
  const auto arrive = [&](LoopNode& node) noexcept {
    node.next = &node;  // as other lists do
    ++arrived;
  };
  TakenNodes taken = inbox.take_nodes();
  while (!taken.empty()) {
    taken.arrive_some(2, 1, arrive);
    inbox.leave(taken);
    taken = inbox.take_left();
  }
  join_all();
  check(arrived == 3 && !inbox.has_left() && inbox.count_tasks() == 0, "all have arrived, once");
}

/// Who takes its own node back, the agent that takes all, another poster, and a closer that counts.
HEIST_BLOCKING_MODEL_PROGRAM(take_back_against_all, 2) {
  Inbox inbox;
  std::array<Node, 2> nodes;
  std::array<bool, 2> is_back{};
  for (std::size_t i = 0; i < 2; ++i) {
    spawn([&, i] {
      Inbox::Below below = 0;
      static_cast<void>(inbox.post(nodes[i], below));
      is_back[i] = inbox.try_take_back(nodes[i], below);
      if (is_back[i]) nodes[i].next = &nodes[i];  // it is the poster's again
    });
  }
  spawn([&] { check(inbox.count_tasks() <= 2, "no more than there are"); });
  std::array<int, 2> taken{};
  const auto take = [&] {
    LoopNode* node = inbox.take_newest_first();
    while (node != nullptr) {
      LoopNode* const next = node->next;
      ++taken[node == &nodes[0] ? 0 : 1];
      node->next = nullptr;
      node = next;
    }
  };
  take();
  join_all();
  take();
  for (std::size_t i = 0; i < 2; ++i) {
    check(taken[i] + (is_back[i] ? 1 : 0) == 1, "each goes one way");
  }
}
