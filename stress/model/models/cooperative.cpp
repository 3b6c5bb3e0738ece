// COOP-2, COOP-6: other threads schedule and cancel on a cooperative scheduler, while its loop
// works, and ends.
#include <heist/heist.hpp>
#include <memory>

#include "../support.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

constexpr auto normal = CooperativePriority::normal;

}  // namespace

/// Two threads schedule; the loop, which works meanwhile, misses none, and keeps the order of each.
HEIST_MODEL_PROGRAM(cooperative_tasks_of_two_threads, 2) {
  EventLoop loop(on_virtual_clock());
  const CooperativeScheduler scheduler(loop.scheduler());
  int of_first = 0;
  int of_second = 0;
  spawn([&] {
    const Operation operation("schedule a callback");
    scheduler.schedule_callback(normal, [&of_first] { check(of_first++ == 0, "the first one"); });
    scheduler.schedule_callback(normal, [&of_first] { check(of_first++ == 1, "the second one"); });
  });
  spawn([&] {
    const Operation operation("schedule a callback");
    scheduler.schedule_callback(CooperativePriority::low, [&of_second] { ++of_second; });
  });
  run(loop);
  if (!join_all()) return;
  run(loop);
  check(of_first == 2 && of_second == 1, "each is called once");
}

/// The same on the loop's own thread, against another one.
HEIST_MODEL_PROGRAM(cooperative_tasks_of_the_loop, 2) {
  EventLoop loop(on_virtual_clock());
  const CooperativeScheduler scheduler(loop.scheduler());
  int runs = 0;
  spawn([&] { scheduler.schedule_callback(normal, [&runs] { ++runs; }); });
  loop.scheduler().post([&] {
    CooperativeTask task;
    {
      const Operation operation("schedule a callback on the loop");
      task = scheduler.schedule_callback(normal, [] { check(false, "it is cancelled"); });
    }
    {
      const Operation operation("cancel a callback on the loop");
      scheduler.cancel_callback(task);
    }
    const Operation operation("ask should_yield");
    check(!scheduler.should_yield(), "no time passes");
  });
  run(loop);
  if (!join_all()) return;
  run(loop);
  check(runs == 1, "the other thread's ran");
}

/// What was cancelled before the task before it ended is not called, and its callback is destroyed.
HEIST_MODEL_PROGRAM(cooperative_cancel_against_work, 3) {
  EventLoop loop(on_virtual_clock());
  const CooperativeScheduler scheduler(loop.scheduler());
  sync::atomic<bool> is_cancelled = false;
  bool must_not_run = false;
  const auto probe = std::make_shared<int>(0);
  scheduler.schedule_callback(normal, [&] { must_not_run = is_cancelled.load(sync::acquire); });
  const auto task = scheduler.schedule_callback(normal, [&, probe] {
    check(!must_not_run, "it was cancelled before");
    ++*probe;
  });
  spawn([&] {
    const Operation operation("cancel a callback");
    scheduler.cancel_callback(task);
    is_cancelled.store(true, sync::release);
  });
  run(loop);
  if (!join_all()) return;
  run(loop);
  check(*probe <= 1 && probe.use_count() == 1, "called once or never, and destroyed");
}

/// A task that gives way while another thread cancels it: the rest is called, or never.
HEIST_MODEL_PROGRAM(cooperative_cancel_against_a_rest, 3) {
  EventLoop loop(on_virtual_clock());
  const CooperativeScheduler scheduler(loop.scheduler());
  const auto probe = std::make_shared<int>(0);
  const auto task = scheduler.schedule_callback(
      normal, [probe]() -> CooperativeCallback { return [probe] { ++*probe; }; });
  spawn([&] { scheduler.cancel_callback(task); });
  run(loop);
  if (!join_all()) return;
  run(loop);
  check(*probe <= 1 && probe.use_count() == 1, "called once or never, and destroyed");
}

/// The loop closes while another thread schedules and cancels: all is refused or dropped, nothing
/// is left.
HEIST_MODEL_PROGRAM(cooperative_tasks_against_close, 3) {
  auto loop = std::make_unique<EventLoop>(on_virtual_clock());
  const CooperativeScheduler scheduler(loop->scheduler());
  const auto probe = std::make_shared<int>(0);
  spawn([&] {
    const auto task = scheduler.schedule_callback(normal, [probe] { ++*probe; });
    scheduler.cancel_callback(task);
  });
  loop.reset();
  if (join_all()) check(*probe == 0 && probe.use_count() == 1, "dropped");
}
