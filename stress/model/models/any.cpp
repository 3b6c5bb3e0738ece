// Signals that depend on others: two sources at once, making and dropping one against abort and
// change of priority (ABT-2, ABT-3, PRI-3, PRI-6), and the timer of a timeout.
#include <heist/heist.hpp>
#include <optional>

#include "../support.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

namespace {

[[nodiscard]] bool is_value(const Reason& reason, int value) {
  const int* held = reason.value<int>();
  return held != nullptr && *held == value;
}

}  // namespace

/// One reason, one event, one rejection; whoever hears of a source finds the dependent marked.
HEIST_BLOCKING_MODEL_PROGRAM(any_aborted_by_two_sources, 2) {
  EventLoop loop(on_virtual_clock());
  AbortController a;
  AbortController b;
  const AbortSignal dependent = AbortSignal::any({a.signal(), b.signal()});
  int events = 0;
  int ran = 0;
  const Subscription on_dependent = dependent.on_abort([&] { ++events; });
  const Subscription on_a =
      a.signal().on_abort([&] { check(dependent.aborted(), "marked before anybody is notified"); });
  auto result = loop.scheduler().post_task([&] { ++ran; }, {.signal = dependent});
  spawn([&] { a.abort(1); });
  spawn([&] { b.abort(2); });
  join_all();
  check(events == 1, "one event");
  check(is_value(dependent.reason(), 1) || is_value(dependent.reason(), 2), "one of the reasons");
  check(result.status() == PromiseStatus::rejected, "its task is rejected");
  check(result.reason() == dependent.reason(), "with the same reason");
  loop.run_until_idle();
  check(ran == 0, "and never runs");
}

/// An abort of the source that comes second returns while the first is on its way to the
/// dependents: no task of one starts any more. The first abort still rejects the task, even if that
/// held the last reference to its signal (ABT-2).
HEIST_BLOCKING_MODEL_PROGRAM(losing_abort_against_a_dependents_start, 2) {
  EventLoop loop(on_virtual_clock());
  AbortController root;
  int ran = 0;
  auto result =
      loop.scheduler().post_task([&] { ++ran; }, {.signal = AbortSignal::any({root.signal()})});
  spawn([&] { root.abort(1); });
  root.abort(2);
  loop.run_until_idle();
  join_all();
  loop.run_until_idle();
  check(ran == 0, "it never runs");
  check(result.status() == PromiseStatus::rejected, "it is rejected");
  check(result.reason() == root.signal().reason(), "with the source's reason");
}

/// The callback's own abort of the source comes second, and returns while the first is on its way
/// to the dependents. What the callback returns comes too late, and the first abort rejects the
/// task, even if that held the last reference to its signal (ABT-6).
HEIST_BLOCKING_MODEL_PROGRAM(losing_abort_within_a_dependents_task, 2) {
  EventLoop loop(on_virtual_clock());
  AbortController root;
  auto result = loop.scheduler().post_task([&] { root.abort(2); },
                                           {.signal = AbortSignal::any({root.signal()})});
  spawn([&] { root.abort(1); });
  loop.run_until_idle();
  join_all();
  check(result.status() == PromiseStatus::rejected, "it is rejected");
  check(result.reason() == root.signal().reason(), "with the source's reason");
}

/// No task of a dependent starts once the abort of a source has returned.
HEIST_MODEL_PROGRAM(any_abort_against_start, 2) {
  EventLoop loop(on_virtual_clock());
  AbortController root;
  const AbortSignal dependent = AbortSignal::any({root.signal()});
  sync::atomic<int> aborted{0};
  bool late_start = false;
  auto result = loop.scheduler().post_task([&] { late_start = aborted.load(sync::acquire) == 1; },
                                           {.signal = dependent});
  spawn([&] {
    root.abort(1);
    aborted.store(1, sync::release);
  });
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  check(result.settled(), "it is settled");
}

/// Made while a source aborts: aborted once both have returned, whichever was first.
HEIST_MODEL_PROGRAM(any_made_against_abort, 2) {
  AbortController a;
  const AbortController b;
  std::optional<AbortSignal> dependent;
  spawn([&] { a.abort(1); });
  dependent = AbortSignal::any({b.signal(), a.signal()});
  if (!join_all()) return;
  check(is_value(dependent->reason(), 1), "aborted, with the reason");
  check(!dependent->on_abort([] {}).active(), "and closed to listeners");
}

/// The last handle goes while a source aborts.
HEIST_MODEL_PROGRAM(any_dropped_against_abort, 2) {
  AbortController a;
  AbortController b;
  auto dependent = std::make_optional(AbortSignal::any({a.signal(), b.signal()}));
  spawn([&] { a.abort(1); });
  dependent.reset();
  if (!join_all()) return;
  b.abort(2);
}

/// The last handle goes while another one is made of the same source.
HEIST_MODEL_PROGRAM(any_dropped_against_another, 2) {
  AbortController root;
  auto first = std::make_optional(AbortSignal::any({root.signal()}));
  std::optional<AbortSignal> second;
  spawn([&] { second = AbortSignal::any({root.signal()}); });
  first.reset();
  if (!join_all()) return;
  root.abort(1);
  check(second->aborted(), "the other one is linked");
}

/// A pick that begins after the change of a source has returned uses it for a dependent's tasks.
HEIST_MODEL_PROGRAM(dependents_priority_against_pick, 2) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  TaskController controller(TaskPriority::background);
  const TaskSignal dependent = TaskSignal::any({}, controller.signal());
  sync::atomic<int> raised{0};
  bool raised_before_pick = false;
  int dynamic = 0;
  int visible = 0;
  scheduler.post([&] { ++dynamic; }, {.signal = dependent});
  scheduler.post([&] { raised_before_pick = raised.load(sync::acquire) == 1; },
                 {.priority = TaskPriority::user_blocking});
  scheduler.post([&] {
    ++visible;
    if (raised_before_pick) check(dynamic == 1, "the pick after set_priority() used it");
  });
  spawn([&] {
    controller.set_priority(TaskPriority::user_blocking);
    raised.store(1, sync::release);
  });
  loop.run_until_idle();
  if (!join_all()) return;
  check(dynamic == 1 && visible == 1, "every task ran once");
}

/// Two loops meet a dependent for the first time at once: each finds the queues of its source
/// there.
HEIST_MODEL_PROGRAM(dependents_port_made_by_two_posters, 1) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  TaskController controller(TaskPriority::background);
  const TaskSignal dependent = TaskSignal::any({}, controller.signal());
  int order = 0;
  int last_dynamic = 0;
  const auto dynamic = [&] { last_dynamic = ++order; };
  scheduler.post([&] { check(++order == 3, "below what was raised"); });
  spawn([&] { scheduler.post(dynamic, {.signal = dependent}); });
  spawn([&] { scheduler.post(dynamic, {.signal = dependent}); });
  if (!join_all()) return;
  controller.set_priority(TaskPriority::user_blocking);
  loop.run_until_idle();
  check(last_dynamic == 2, "both were raised");
}

/// Made while the priority changes: it shows the new value once both have returned.
HEIST_MODEL_PROGRAM(any_made_against_priority_change, 2) {
  TaskController controller(TaskPriority::background);
  std::optional<TaskSignal> dependent;
  spawn([&] { controller.set_priority(TaskPriority::user_blocking); });
  dependent = TaskSignal::any({}, controller.signal());
  if (!join_all()) return;
  check(dependent->priority() == TaskPriority::user_blocking, "the new value reached it");
}

/// Two changes and a listener of a dependent: its events follow each other, the last one is the
/// last value.
HEIST_BLOCKING_MODEL_PROGRAM(two_changes_and_a_dependents_events, 2) {
  TaskController controller(TaskPriority::user_visible);
  const TaskSignal dependent = TaskSignal::any({}, controller.signal());
  TaskPriority last = TaskPriority::user_visible;
  const Subscription subscription =
      dependent.on_priority_change([&](const PriorityChangeEvent& event) {
        check(event.previous == last, "an event begins where the last one ended");
        last = event.current;
      });
  spawn([&] { controller.set_priority(TaskPriority::user_blocking); });
  spawn([&] { controller.set_priority(TaskPriority::background); });
  join_all();
  check(last == controller.signal().priority(), "the last event is the last value");
  check(dependent.priority() == last, "and what the signal shows");
}

/// The last handle goes while the priority changes.
HEIST_MODEL_PROGRAM(any_dropped_against_priority_change, 2) {
  TaskController controller(TaskPriority::background);
  auto dependent = std::make_optional(TaskSignal::any({}, controller.signal()));
  spawn([&] { controller.set_priority(TaskPriority::user_blocking); });
  dependent.reset();
  if (!join_all()) return;
  controller.set_priority(TaskPriority::user_visible);
}

/// The last handle of a timeout goes while its timer runs, or before, or after.
HEIST_MODEL_PROGRAM(timeout_signal_dropped_against_its_timer, 2) {
  EventLoop loop(on_virtual_clock());
  auto signal = std::make_optional(AbortSignal::timeout(loop.scheduler(), Delay()));
  spawn([&] { signal.reset(); });
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  check(loop.pending() == 0, "the timer is gone");
}

/// The same, while the loop closes.
HEIST_MODEL_PROGRAM(timeout_signal_dropped_against_close, 2) {
  EventLoop loop(on_virtual_clock());
  auto signal = std::make_optional(AbortSignal::timeout(loop.scheduler(), Delay::never()));
  spawn([&] { signal.reset(); });
  loop.close(CloseMode::abort());
  static_cast<void>(join_all());
}

/// Suspended by another thread: a pick that begins afterwards does not start its task; resumed, it
/// does.
HEIST_MODEL_PROGRAM(suspend_against_pick, 2) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  const Scheduler other = loop.create_scheduler();
  sync::atomic<int> suspended{0};
  bool before_pick = false;
  int ran = 0;
  other.post([&] { before_pick = suspended.load(sync::acquire) == 1; },
             {.priority = TaskPriority::user_blocking});
  scheduler.post([&] {
    ++ran;
    check(!before_pick, "a pick after suspend() does not start it");
  });
  spawn([&] {
    scheduler.suspend();
    suspended.store(1, sync::release);
  });
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  before_pick = false;
  scheduler.resume();
  loop.run_until_idle();
  check(ran == 1, "it ran once");
}

namespace {

/// A coroutine that yields, and what became of it.
class YieldingOnce {
 public:
  Promise<void> operator()(YieldOptions options) {
    const CountsItsEnd frame(ended_);
    try {
      co_await heist::yield(std::move(options));
      check(!returned_, "it does not go on after abort() has returned");
    } catch (const AbortError&) {
      check(!yields || dependent_.aborted(), "dependents are marked before it hears of the abort");
    }
  }
  void abort() {
    controller.abort();
    aborted_.store(1, sync::release);
  }
  /// An agent, before a pick.
  void look() { returned_ = aborted_.load(sync::acquire) == 1; }
  void check_end() const { check(ended_ == 1, "the coroutine ended once"); }

  TaskController controller{TaskPriority::user_visible};
  bool yields = false;  ///< the continuation was registered before any abort

 private:
  const AbortSignal dependent_ = AbortSignal::any({AbortSignal(controller.signal())});
  int ended_ = 0;
  sync::atomic<int> aborted_{0};
  bool returned_ = false;
};

}  // namespace

/// A continuation with a signal of its own is aborted while its turn comes.
HEIST_MODEL_PROGRAM(abort_against_continuation, 2) {
  YieldingOnce shared;  // first, as the loop's end resumes the coroutine if a thread is frozen
  EventLoop loop(on_virtual_clock());
  const YieldOptions options{YieldSignal(shared.controller.signal())};
  auto result = loop.scheduler().post_task([&] { return shared(options); });
  spawn([&] { shared.abort(); });
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  shared.check_end();
  check(result.settled(), "and its promise is settled");
}

/// The same for one that inherits its task's signal: it resumes the coroutine itself, or the abort
/// does. The loop's agent looks before it picks.
HEIST_MODEL_PROGRAM(abort_against_inherited_continuation, 2) {
  YieldingOnce shared;  // first, as the loop's end resumes the coroutine if a thread is frozen
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  scheduler.post([&] { static_cast<void>(shared({})); }, {.signal = shared.controller.signal()});
  loop.run_one();
  shared.yields = true;
  spawn([&] { shared.abort(); });
  scheduler.post([&] { shared.look(); }, {.priority = TaskPriority::user_blocking});
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  shared.check_end();
}

/// A priority change moves such a continuation while its turn comes.
HEIST_MODEL_PROGRAM(move_against_inherited_continuation, 2) {
  YieldingOnce shared;  // first, as the loop's end resumes the coroutine if a thread is frozen
  EventLoop loop(on_virtual_clock());
  loop.scheduler().post([&] { static_cast<void>(shared({})); },
                        {.signal = shared.controller.signal()});
  loop.run_one();
  spawn([&] { shared.controller.set_priority(TaskPriority::background); });
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  shared.check_end();
}
