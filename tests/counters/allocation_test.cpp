// How much each operation allocates. Rule: LIF-4 (picking, expiring, aborting, settling and closing
// never allocate). A task takes one allocation at most, and none in the steady state. The first
// tasks of a signal take more (docs/adr/0036, 0037).
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <heist/heist.hpp>
#include <string>
#include <utility>
#include <vector>

#include "api/probes.hpp"
#include "counters/counting.hpp"

namespace heist {
namespace {

using namespace std::chrono_literals;
using test::allocated_by;
using test::Allocations;

constexpr int count = 100;

/// Too large for the pool to keep: each node of it is one call of the backing allocator.
struct Large {
  std::array<char, 600> bytes{};
  void operator()() const {}
};
struct Small {
  void operator()() const {}
};

enum class Kind {
  post,
  post_task,
  with_signal,
  with_task_signal,
  delayed,
  fire_and_forget_with_signal
};

class OneAllocation : public testing::TestWithParam<Kind> {
 protected:
  /// Each signal has had its first tasks, which allocate more.
  void SetUp() override {
    post_many(Small());
    run_all();
  }
  template <class Callback>
  void post(const Callback& callback) {
    switch (GetParam()) {
      case Kind::post:
        scheduler.post(callback);
        return;
      case Kind::post_task:
        static_cast<void>(scheduler.post_task(callback));
        return;
      case Kind::with_signal:
        static_cast<void>(scheduler.post_task(callback, with_signal));
        return;
      case Kind::with_task_signal:
        static_cast<void>(scheduler.post_task(callback, with_task_signal));
        return;
      case Kind::delayed:
        static_cast<void>(scheduler.post_task(callback, delayed));
        return;
      case Kind::fire_and_forget_with_signal:
        scheduler.post(callback, with_task_signal);
        return;
    }
  }
  template <class Callback>
  void post_many(const Callback& callback) {
    for (int i = 0; i < count; ++i) post(callback);
  }
  void run_all() { loop.advance(2ms); }

  EventLoop loop{test::on_virtual_clock()};
  Scheduler scheduler = loop.scheduler();
  AbortController abort_controller;
  TaskController task_controller;
  PostTaskOptions with_signal{.signal = abort_controller.signal()};
  PostTaskOptions with_task_signal{.signal = task_controller.signal()};
  PostTaskOptions delayed{.signal = task_controller.signal(), .delay = 1ms};
};

TEST_P(OneAllocation, post_when_the_pool_keeps_nothing_then_one_allocation_a_task) {
  EXPECT_EQ(allocated_by([this] { post_many(Large()); }), (Allocations{.by_pool = count}));
  EXPECT_EQ(allocated_by([this] { run_all(); }), Allocations{});
}

TEST_P(OneAllocation, post_when_in_a_task_then_one_allocation_a_task) {
  Allocations seen;
  scheduler.post([&] { seen = allocated_by([this] { post_many(Large()); }); });
  loop.run_until_idle();
  EXPECT_EQ(seen, (Allocations{.by_pool = count}));
  run_all();
}

TEST_P(OneAllocation, post_when_in_the_steady_state_then_none) {
  if (!test::pool_recycles()) GTEST_SKIP() << "this build's pool keeps nothing";
  const auto round = [this] {
    post_many(Small());
    run_all();
  };
  round();
  EXPECT_EQ(allocated_by([&] {
              for (int i = 0; i < count; ++i) round();
            }),
            Allocations{});
}

std::string name_of(const testing::TestParamInfo<Kind>& test) {
  const char* const names[] = {"post",        "post_task",
                               "with_signal", "with_task_signal",
                               "delayed",     "fire_and_forget_with_signal"};
  return names[static_cast<int>(test.param)];
}

INSTANTIATE_TEST_SUITE_P(All, OneAllocation,
                         testing::Values(Kind::post, Kind::post_task, Kind::with_signal,
                                         Kind::with_task_signal, Kind::delayed,
                                         Kind::fire_and_forget_with_signal),
                         name_of);

class Continuations : public test::LoopTest {
 protected:
  /// What `work` allocates as a task of the loop, with what it leaves to microtasks.
  template <class Work>
  Allocations allocated_in_a_task(Work work) {
    Allocations before;
    Allocations after;
    scheduler.post([&] {
      before = test::allocations();
      work();
    });
    scheduler.post([&] { after = test::allocations(); });
    loop.run_until_idle();
    return after - before;
  }
};

// Cost lines of Promise::then and queue_microtask.
TEST_F(Continuations, then_when_registered_then_one_allocation) {
  const auto source = Promise<int>::resolved(1);
  EXPECT_EQ(allocated_in_a_task([&] {
              for (int i = 0; i < count; ++i) {
                static_cast<void>(source.then([large = Large()](int) {}));
              }
            }),
            (Allocations{.by_pool = count}));
}

TEST_F(Continuations, queue_microtask_when_called_then_one_allocation) {
  EXPECT_EQ(allocated_in_a_task([] {
              for (int i = 0; i < count; ++i) queue_microtask(Large());
            }),
            (Allocations{.by_pool = count}));
}

TEST_F(Continuations, set_timeout_when_called_then_one_allocation_and_clearing_none) {
  EXPECT_EQ(allocated_in_a_task([] {
              for (int i = 0; i < count; ++i) {
                Timeout timeout = set_timeout(Large(), 1h);
                EXPECT_TRUE(timeout.clear());
                static_cast<void>(set_timeout(Large()));
              }
            }),
            (Allocations{.by_pool = 2 * count}));
}

// Rule: PRO-1: adopting a returned promise is part of the task's one node.
TEST_F(Continuations,
       post_task_when_the_callback_returns_a_promise_then_adoption_allocates_nothing) {
  const auto inner = Promise<int>::resolved(1);
  const auto post = [&] {
    for (int i = 0; i < count; ++i) {
      static_cast<void>(scheduler.post_task([large = Large(), inner] { return inner; }));
    }
  };
  EXPECT_EQ(allocated_by(post), (Allocations{.by_pool = count}));
  EXPECT_EQ(allocated_by([this] { loop.run_until_idle(); }), Allocations{});
}

Promise<int> await_often(Promise<int> source, int times) {
  int sum = 0;
  for (int i = 0; i < times; ++i) {
    const int value = co_await source;
    sum += value;
  }
  co_return sum;
}

TEST_F(Continuations, await_when_in_a_coroutine_then_no_allocation) {
  const auto source = Promise<int>::resolved(1);
  const auto few = allocated_in_a_task([&] { static_cast<void>(await_often(source, 1)); });
  const auto many = allocated_in_a_task([&] { static_cast<void>(await_often(source, 1000)); });
  EXPECT_LE(few.by_pool, 2U);  // frame and promise
  EXPECT_LE(many.by_pool, 2U);
  EXPECT_EQ(few.by_new + many.by_new, 0U);
}

/// Posts of every kind, and what is done with them afterwards without memory.
class Lif4NeverAllocates : public test::LoopTest {
 protected:
  void SetUp() override {
    for (int i = 0; i < count; ++i) {
      for (const auto* options : {&plain, &with_signal, &with_task_signal, &delayed, &far}) {
        scheduler.post([this] { ++ran; }, *options);
        promises.push_back(scheduler.post_task([this] { return ++ran; }, *options));
        outcomes.push_back(promises.back().then(
            std::as_const(scheduler), [this](int) { return ++fulfilled; },
            [this](const Reason&) { return ++rejected; }));
      }
    }
  }

  int ran = 0;
  int fulfilled = 0;
  int rejected = 0;
  AbortController abort_controller;
  TaskController task_controller;
  PostTaskOptions plain;
  PostTaskOptions with_signal{.signal = abort_controller.signal()};
  PostTaskOptions with_task_signal{.signal = task_controller.signal()};
  PostTaskOptions delayed{.delay = 3ms};
  PostTaskOptions far{.signal = task_controller.signal(), .delay = 1h};
  std::vector<Promise<int>> promises;
  std::vector<Promise<int>> outcomes;
};

// Rule: LIF-4
TEST_F(Lif4NeverAllocates, loop_when_it_picks_runs_and_settles_then_nothing_is_allocated) {
  EXPECT_EQ(allocated_by([this] { loop.run_until_idle(); }), Allocations{});
  EXPECT_EQ(ran, 6 * count);
  EXPECT_EQ(fulfilled, 3 * count);
}

// Rule: LIF-4
TEST_F(Lif4NeverAllocates, loop_when_delays_expire_then_nothing_is_allocated) {
  EXPECT_EQ(allocated_by([this] { loop.advance(2h); }), Allocations{});
  EXPECT_EQ(ran, 10 * count);
}

// Rule: LIF-4
TEST_F(Lif4NeverAllocates, abort_when_tasks_are_queued_and_delayed_then_nothing_is_allocated) {
  const Reason reason("made before");
  EXPECT_EQ(allocated_by([&] {
              abort_controller.abort(reason);
              task_controller.abort(reason);
              loop.run_until_idle();
            }),
            Allocations{});
  EXPECT_EQ(ran, 2 * count);
  EXPECT_EQ(rejected, 3 * count);
}

// Rule: LIF-4, PRI-3. The first change of a signal's priority makes its message to the loop.
TEST_F(Lif4NeverAllocates, set_priority_when_it_is_not_the_first_then_nothing_is_allocated) {
  task_controller.set_priority(TaskPriority::user_visible);
  task_controller.set_priority(TaskPriority::background);
  EXPECT_EQ(allocated_by([this] {
              task_controller.set_priority(TaskPriority::user_visible);
              task_controller.set_priority(TaskPriority::user_blocking);
              loop.run_until_idle();
            }),
            Allocations{});
}

// Rule: LIF-4. Nor does it make the message.
TEST_F(Lif4NeverAllocates, set_priority_when_the_value_is_the_same_then_nothing_is_allocated) {
  const TaskPriority same = task_controller.signal().priority();
  EXPECT_EQ(allocated_by([&] { task_controller.set_priority(same); }), Allocations{});
}

// Rule: LIF-4
TEST_F(Lif4NeverAllocates, close_when_aborting_then_nothing_is_allocated) {
  EXPECT_EQ(allocated_by([this] { loop.close(CloseMode::abort()); }), Allocations{});
  EXPECT_EQ(rejected, 5 * count);
}

// Rule: LIF-4
TEST_F(Lif4NeverAllocates, close_when_draining_then_nothing_is_allocated) {
  EXPECT_EQ(allocated_by([this] { loop.close(CloseMode::drain()); }), Allocations{});
  EXPECT_EQ(ran, 6 * count);
  EXPECT_EQ(rejected, 2 * count);
}

// Rule: LIF-4
TEST_F(Lif4NeverAllocates, post_when_refused_by_a_closed_loop_then_only_the_promise_is_allocated) {
  loop.close(CloseMode::abort());
  EXPECT_EQ(allocated_by([this] { static_cast<void>(scheduler.post_task(Large())); }),
            (Allocations{.by_pool = 1}));
}

}  // namespace
}  // namespace heist
