// Operations of senders are tasks in memory of their own, which goes within their completion
// (InPlaceOps): they start, stop, run and are dropped at the same time.
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "../cluster.hpp"
#include "../support.hpp"
#include "support/senders.hpp"

#define HEIST_EXECUTION_NAMESPACE heist::support::senders
#include <heist/execution.hpp>

using namespace heist;
using namespace heist::model;
using namespace heist::execution;

namespace {

/// How operations have ended. They may end on any thread.
struct Ends {
  sync::atomic<int> values{0};
  sync::atomic<int> stops{0};

  [[nodiscard]] int all() const { return values.load(sync::acquire) + stops.load(sync::acquire); }
};

struct NoEnv {};

/// A stop token that a model's thread may set.
struct FlagEnv {
  struct Token {
    sync::atomic<bool>* is_set;
    [[nodiscard]] bool stop_requested() const noexcept { return is_set->load(sync::acquire); }
    [[nodiscard]] static constexpr bool stop_possible() noexcept { return true; }
  };
  Token token;
  [[nodiscard]] Token query(exq::get_stop_token_t /*query*/) const noexcept { return token; }
};

struct SignalEnv {
  TaskSignal signal;
  [[nodiscard]] TaskSignal query(GetSignal /*query*/) const noexcept { return signal; }
};

/// An operation that destroys itself when it ends.
template <class Env = NoEnv>
class OnHeap {
 public:
  explicit OnHeap(const Scheduler& scheduler, Ends& ends, Env env = {})
      : ends_(ends),
        env_(std::move(env)),
        operation_(ex::connect(ex::schedule(as_scheduler(scheduler)), Ending{this})) {}
  void start() noexcept { operation_.start(); }
  void stop() noexcept { end(ends_.stops); }
  [[nodiscard]] const Ends* told() const noexcept { return &ends_; }

 private:
  struct Ending {
    using receiver_concept = ReceiverTag;
    OnHeap* self;
    void set_value() noexcept { self->end(self->ends_.values); }
    void set_stopped() noexcept { self->end(self->ends_.stops); }
    [[nodiscard]] const Env& get_env() const noexcept { return self->env_; }
  };

  void end(sync::atomic<int>& count) noexcept {
    delete this;
    count.fetch_add(1, sync::acq_rel);
  }

  Ends& ends_;
  Env env_;
  ex::connect_result_t<ScheduleSender<TaskScheduler>, Ending> operation_;
};

template <class Env = NoEnv>
void start(const Scheduler& scheduler, Ends& ends, Env env = {}) {
  (new OnHeap<Env>(scheduler, ends, std::move(env)))->start();
}

}  // namespace

/// Two threads start operations, which end while others are being posted on top of them.
HEIST_MODEL_PROGRAM(operations_started_against_their_turns, 2) {
  EventLoop loop(on_virtual_clock());
  Ends ends;
  spawn([&] { start(loop.scheduler(), ends); });
  spawn([&] {
    start(loop.scheduler(), ends);
    start(loop.scheduler(), ends);
  });
  loop.run_until_idle();
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  check(ends.values.load(sync::acquire) == 3, "each has completed once");
}

HEIST_MODEL_PROGRAM(operation_stopped_against_its_turn, 3) {
  EventLoop loop(on_virtual_clock());
  Ends ends;
  sync::atomic<bool> stop{false};
  spawn([&] { stop.store(true, sync::release); });
  spawn([&] { start(loop.scheduler(), ends, FlagEnv{{&stop}}); });
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  check(ends.all() == 1, "it has ended once");
}

HEIST_MODEL_PROGRAM(operation_aborted_against_its_turn, 2) {
  EventLoop loop(on_virtual_clock());
  TaskController controller;
  Ends ends;
  start(loop.scheduler(), ends, SignalEnv{controller.signal()});
  spawn([&] { controller.abort(); });
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  check(ends.all() == 1, "it has ended once");
}

HEIST_MODEL_PROGRAM(operation_started_against_close, 3) {
  EventLoop loop(on_virtual_clock());
  Ends ends;
  sync::atomic<bool> stop{false};
  spawn([&] { start(loop.scheduler(), ends, FlagEnv{{&stop}}); });
  loop.close(CloseMode::abort());
  if (!join_all()) return;
  check(ends.stops.load(sync::acquire) == 1, "it was stopped, once");
}

HEIST_MODEL_PROGRAM(operation_aborted_against_close, 2) {
  EventLoop loop(on_virtual_clock());
  TaskController controller;
  Ends ends;
  spawn([&] { controller.abort(); });
  spawn([&] { start(loop.scheduler(), ends, SignalEnv{controller.signal()}); });
  loop.close(CloseMode::abort());
  if (!join_all()) return;
  check(ends.stops.load(sync::acquire) == 1, "it was stopped, once");
}

/// An agent takes from the bin to which another thread posts, and ends what it takes.
HEIST_MODEL_PROGRAM(operations_started_against_an_agent, 2) {
  LoopCluster cluster;
  Ends ends;
  spawn([&] { cluster.run_until_idle(1); });
  start(cluster.scheduler(), ends);
  start(cluster.scheduler(), ends);
  if (!join_all()) return;
  cluster.run_until_idle(0);
  check(ends.values.load(sync::acquire) == 2, "each has completed once");
}

/// An agent steals what another one has started on its own ring.
HEIST_MODEL_PROGRAM(operations_started_against_thieves, 2) {
  LoopCluster cluster;
  Ends ends;
  cluster.bound(0).post([&] {
    start(cluster.scheduler(), ends);
    start(cluster.scheduler(), ends);
  });
  spawn([&] { cluster.run_until_idle(1); });
  cluster.run_until_idle(0);
  if (!join_all()) return;
  check(ends.values.load(sync::acquire) == 2, "each has completed once");
}

HEIST_MODEL_PROGRAM(operation_in_a_cluster_started_against_close, 2) {
  std::optional<LoopCluster> cluster(std::in_place, 1U);
  Ends ends;
  sync::atomic<bool> stop{false};
  spawn([&] { start(cluster->scheduler(), ends, FlagEnv{{&stop}}); });
  cluster->close(0);
  if (!join_all()) return;
  check(ends.stops.load(sync::acquire) == 1, "it was stopped, once");
}

/// It ends, and the cluster with it, before its start has returned.
HEIST_MODEL_PROGRAM(operation_started_against_the_end_of_its_cluster, 2) {
  std::optional<LoopCluster> cluster(std::in_place, 1U);
  Ends ends;
  auto* const operation = new OnHeap<>(cluster->scheduler(), ends);
  spawn([&] { operation->start(); });
  cluster->run_until_idle(0);
  if (ends.all() == 1) cluster.reset();
  if (!join_all()) return;
  if (cluster) cluster->run_until_idle(0);
  check(ends.values.load(sync::acquire) == 1, "it has completed once");
}

/// Who starts an operation must not look at it afterwards: it may have ended.
HEIST_MODEL_PROGRAM(naive_operation_looked_at_after_its_start, 2) {
  EventLoop loop(on_virtual_clock());
  Ends ends;
  spawn([&] {
    auto* const operation = new OnHeap<>(loop.scheduler(), ends);
    operation->start();
    check(operation->told() == &ends, "it is still there");
  });
  loop.run_until_idle();
  loop.run_until_idle();
  join_all();
  loop.run_until_idle();
}

/// A stop cannot end an operation at once: the loop still has its task.
HEIST_MODEL_PROGRAM(naive_operation_stopped_at_once, 2) {
  EventLoop loop(on_virtual_clock());
  Ends ends;
  auto* const operation = new OnHeap<>(loop.scheduler(), ends);
  operation->start();
  spawn([&] { operation->stop(); });
  loop.run_until_idle();
  join_all();
  check(ends.all() == 1, "it has ended once");
}
