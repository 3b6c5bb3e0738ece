// A scope's tasks end on one thread while others join, abort, start or close (SCO-1 to SCO-3).
#include <array>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "../cluster.hpp"
#include "../support.hpp"

using namespace heist;
using namespace heist::model;

namespace {

/// What tasks capture: it counts its end in memory that goes as soon as the scope was joined.
class Ending {
 public:
  explicit Ending(int& ended) : ended_(&ended) {}
  Ending(Ending&& other) noexcept : ended_(std::exchange(other.ended_, nullptr)) {}
  Ending& operator=(Ending&&) = delete;
  ~Ending() {
    if (ended_ != nullptr) ++*ended_;
  }

 private:
  int* ended_;
};

/// Joins, whatever is thrown.
void join_quietly(TaskScope& scope) {
  try {
    scope.join();
  } catch (const std::exception&) {  // an abort, or a close
  }
}

}  // namespace

/// The owner waits, and destroys the scope and what the tasks refer to, while the agent ends them.
HEIST_BLOCKING_MODEL_PROGRAM(scope_joined_against_its_end, 2) {
  EventLoop loop(on_virtual_clock());
  std::optional<TaskScope> scope(std::in_place, loop.scheduler());
  const auto ended = std::make_unique<int>(0);
  for (int i = 0; i < 2; ++i) scope->start([last = Ending(*ended)] {});
  spawn([&] { loop.run_until_idle(); });
  scope->join();
  check(*ended == 2, "all have ended");
  scope.reset();
  join_all();
}

/// The owner aborts and joins while the agent starts the first task.
HEIST_BLOCKING_MODEL_PROGRAM(scope_aborted_against_a_start, 2) {
  EventLoop loop(on_virtual_clock());
  std::optional<TaskScope> scope(std::in_place, loop.scheduler());
  const auto ended = std::make_unique<int>(0);
  for (int i = 0; i < 2; ++i) scope->start([last = Ending(*ended)] {});
  spawn([&] {
    loop.run_until_idle();
    loop.run_until_idle();
  });
  scope->abort();
  loop.scheduler().post(&nothing);  // the agent comes once more, to reap
  scope.reset();
  check(*ended == 2, "all have ended");
  join_all();
}

/// A third thread starts while the owner joins and the agent ends what there was: it is refused, or
/// the join waits for it.
HEIST_BLOCKING_MODEL_PROGRAM(scope_started_against_its_end, 2) {
  EventLoop loop(on_virtual_clock());
  TaskScope scope(loop.scheduler());
  int ended = 0;
  bool is_refused = false;
  scope.start([&, last = Ending(ended)] {
    // A task of the scope may start more, whatever the owner does.
    scope.start([last = Ending(ended)] {});
  });
  spawn([&] { loop.run_until_idle(); });
  scope.join();
  check(ended == 2, "what a task started has ended as well");
  try {
    scope.start(&nothing);
  } catch (const InvalidStateError&) {
    is_refused = true;
  }
  check(is_refused, "nobody would wait for it");
  join_all();
}

/// A coroutine of the scope goes on and ends on the agent, while the owner joins.
HEIST_BLOCKING_MODEL_PROGRAM(scope_joined_against_the_end_of_a_coroutine, 2) {
  EventLoop loop(on_virtual_clock());
  std::optional<TaskScope> scope(std::in_place, loop.scheduler());
  const auto ended = std::make_unique<int>(0);
  auto awaited = Promise<void>::with_resolver();
  scope->start([&, last = Ending(*ended)]() -> Promise<void> { co_await awaited.promise; });
  loop.run_until_idle();
  awaited.resolver.resolve();
  spawn([&] { loop.run_until_idle(); });
  scope->join();
  check(*ended == 1, "the coroutine has ended, and so has its callback");
  scope.reset();
  join_all();
}

/// The loop is closed while the owner starts: each task is dropped, or refused, and has ended.
HEIST_BLOCKING_MODEL_PROGRAM(scope_joined_against_close, 2) {
  EventLoop loop(on_virtual_clock());
  std::optional<TaskScope> scope(std::in_place, loop.scheduler());
  const auto ended = std::make_unique<std::array<int, 2>>();
  spawn([&] { loop.close(CloseMode::abort()); });
  for (int& one : *ended) scope->start([last = Ending(one)] {});
  join_quietly(*scope);
  for (const int one : *ended) check(one == 1, "it has ended");
  scope.reset();
  join_all();
}

/// An agent of a cluster destroys a scope while another agent takes its tasks.
HEIST_BLOCKING_MODEL_PROGRAM(scope_destroyed_on_an_agent, 1) {
  LoopCluster cluster;
  cluster.bound(0).post([&] {
    const auto ended = std::make_unique<std::array<int, 2>>();
    {
      TaskScope scope(cluster.scheduler());
      for (int& one : *ended) scope.start([last = Ending(one)] {});
    }
    for (const int one : *ended) check(one == 1, "it has ended");
  });
  spawn([&] { cluster.run_until_idle(1); });
  cluster.run_until_idle(0);
  join_all();
}
