// Priority changes against picks, and against each other (PRI-3, PRI-6).
#include <heist/heist.hpp>
#include <vector>

#include "../support.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

/// A pick that begins after set_priority() has returned uses the new value.
HEIST_MODEL_PROGRAM(set_priority_against_pick, 2) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  TaskController controller(TaskPriority::background);
  sync::atomic<int> raised{0};
  bool raised_before_pick = false;
  int dynamic = 0;
  int visible = 0;
  scheduler.post([&] { ++dynamic; }, {.signal = controller.signal()});
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

/// The same, for a task whose post overlaps the change.
HEIST_MODEL_PROGRAM(set_priority_against_post, 1) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  TaskController controller(TaskPriority::background);
  sync::atomic<int> done{0};
  int dynamic = 0;
  spawn([&] {
    scheduler.post([&] { ++dynamic; }, {.signal = controller.signal()});
    done.fetch_add(1, sync::acq_rel);
  });
  spawn([&] {
    controller.set_priority(TaskPriority::user_blocking);
    done.fetch_add(1, sync::acq_rel);
  });
  bool both = false;
  scheduler.post([&] { both = done.load(sync::acquire) == 2; },
                 {.priority = TaskPriority::user_blocking});
  scheduler.post([&] {
    if (both) check(dynamic == 1, "it was raised before this pick");
  });
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  check(dynamic == 1, "it ran once");
}

/// Two calls: each event begins where the last ended, the last one is the last value, and picks use
/// it.
HEIST_BLOCKING_MODEL_PROGRAM(two_changes_and_their_events, 2) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  TaskController controller(TaskPriority::user_visible);
  TaskPriority last = TaskPriority::user_visible;
  bool in_listener = false;
  int events = 0;
  const Subscription subscription =
      controller.signal().on_priority_change([&](const PriorityChangeEvent& event) {
        check(!std::exchange(in_listener, true), "one listener call at a time");
        check(event.previous == last, "an event begins where the last one ended");
        last = event.current;
        ++events;
        in_listener = false;
      });
  int order = 0;
  int dynamic_at = 0;
  scheduler.post([&] { dynamic_at = ++order; }, {.signal = controller.signal()});
  scheduler.post([&] { ++order; });
  spawn([&] { controller.set_priority(TaskPriority::user_blocking); });
  spawn([&] { controller.set_priority(TaskPriority::background); });
  join_all();
  check(last == controller.signal().priority(), "the last event is the last value");
  check(events >= 1 && events <= 2, "an event for each change at the most");
  loop.run_until_idle();
  const bool is_first = controller.signal().priority() == TaskPriority::user_blocking;
  check(dynamic_at == (is_first ? 1 : 2), "picks use the last value");
}

/// Three calls: what one leaves to another that is still there, a third may take first.
HEIST_BLOCKING_MODEL_PROGRAM(three_changes_and_their_events, 1) {
  TaskController controller(TaskPriority::background);
  TaskPriority last = TaskPriority::background;
  const Subscription subscription =
      controller.signal().on_priority_change([&](const PriorityChangeEvent& event) {
        check(event.previous == last, "an event begins where the last one ended");
        last = event.current;
      });
  spawn([&] { controller.set_priority(TaskPriority::user_visible); });
  spawn([&] { controller.set_priority(TaskPriority::background); });
  controller.set_priority(TaskPriority::user_blocking);
  join_all();
  check(last == controller.signal().priority(), "the last event is the last value");
}

/// Two calls: whichever thread calls the listener, it comes behind what the other one did before
/// its call.
HEIST_BLOCKING_MODEL_PROGRAM(listener_called_by_another_call, 2) {
  TaskController controller(TaskPriority::user_visible);
  int data = 0;
  const Subscription subscription =
      controller.signal().on_priority_change([&](const PriorityChangeEvent& event) {
        if (event.current == TaskPriority::background) check(data == 1, "it is seen");
      });
  spawn([&] {
    data = 1;
    controller.set_priority(TaskPriority::background);
  });
  controller.set_priority(TaskPriority::user_blocking);
  join_all();
}

/// A task sets what another call is setting: it returns at once only when the loops have been told.
HEIST_MODEL_PROGRAM(same_value_against_pick, 1) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  TaskController controller(TaskPriority::background);
  int dynamic = 0;
  for (const auto priority : {TaskPriority::user_visible, TaskPriority::user_blocking}) {
    scheduler.post([&, priority] { controller.set_priority(priority); },
                   {.priority = TaskPriority::user_blocking});
  }
  scheduler.post([&] { check(dynamic == 1, "the pick used the value"); });
  scheduler.post([&] { ++dynamic; }, {.signal = controller.signal()});
  spawn([&] { controller.set_priority(TaskPriority::user_blocking); });
  loop.run_until_idle();
  if (!join_all()) return;
  check(dynamic == 1, "it ran once");
}

/// Two calls while the agent picks: once both have returned, picks use the value that stays.
HEIST_MODEL_PROGRAM(two_changes_against_pick, 1) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  TaskController controller(TaskPriority::user_visible);
  sync::atomic<int> returned{0};
  bool both = false;
  int dynamic = 0;
  scheduler.post([&] { both = returned.load(sync::acquire) == 2; },
                 {.priority = TaskPriority::user_blocking});
  scheduler.post([&] {
    const bool is_first = controller.signal().priority() == TaskPriority::user_blocking;
    if (both) check(dynamic == (is_first ? 1 : 0), "the pick used the value that stays");
  });
  scheduler.post([&] { ++dynamic; }, {.signal = controller.signal()});
  for (const auto priority : {TaskPriority::user_blocking, TaskPriority::background}) {
    spawn([&, priority] {
      controller.set_priority(priority);
      returned.fetch_add(1, sync::acq_rel);
    });
  }
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  check(dynamic == 1, "it ran once");
}

/// A call that finds another one delivering returns early: picks use its value from then on all the
/// same.
HEIST_MODEL_PROGRAM(early_return_against_pick, 1) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  TaskController controller(TaskPriority::user_visible);
  sync::atomic<int> returned{0};
  bool has_returned = false;
  int dynamic = 0;
  scheduler.post([&] { has_returned = returned.load(sync::acquire) == 1; },
                 {.priority = TaskPriority::user_blocking});
  scheduler.post([&] {
    const bool is_last = controller.signal().priority() == TaskPriority::user_blocking;
    if (has_returned && is_last) check(dynamic == 1, "the pick used the value");
  });
  scheduler.post([&] { ++dynamic; }, {.signal = controller.signal()});
  spawn([&] { controller.set_priority(TaskPriority::background); });
  spawn([&] {
    controller.set_priority(TaskPriority::user_blocking);
    returned.store(1, sync::release);
  });
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  check(dynamic == 1, "it ran once");
}

/// A change finds the message of an earlier one under way, which the agent has taken, or will:
/// picks use the new value either way (D1 of PortExtras).
HEIST_MODEL_PROGRAM(second_change_against_pick, 2) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  TaskController controller(TaskPriority::background);
  sync::atomic<int> returned{0};
  bool has_returned = false;
  int dynamic = 0;
  scheduler.post([&] { has_returned = returned.load(sync::acquire) == 1; },
                 {.priority = TaskPriority::user_blocking});
  scheduler.post([&] {
    if (has_returned) check(dynamic == 1, "the pick used the new value");
  });
  scheduler.post([&] { ++dynamic; }, {.signal = controller.signal()});
  controller.set_priority(TaskPriority::user_visible);
  spawn([&] {
    controller.set_priority(TaskPriority::user_blocking);
    returned.store(1, sync::release);
  });
  loop.run_until_idle();
  if (!join_all()) return;
  check(dynamic == 1, "it ran once");
}

/// A call finds the message of another one, that has not returned yet, in the inbox: it need not
/// send its own. (Not run frozen: a loop cannot be destroyed while it is driven.)
HEIST_BLOCKING_MODEL_PROGRAM(early_return_against_message_under_way, 1) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  TaskController controller(TaskPriority::background);
  sync::atomic<int> returned{0};
  bool has_returned = false;
  int dynamic = 0;
  scheduler.post([&] { has_returned = returned.load(sync::acquire) == 1; },
                 {.priority = TaskPriority::user_blocking});
  scheduler.post([&] {
    const bool is_last = controller.signal().priority() == TaskPriority::user_blocking;
    if (has_returned && is_last) check(dynamic == 1, "the pick used the value");
  });
  scheduler.post([&] { ++dynamic; }, {.signal = controller.signal()});
  check(loop.pending() == 3, "the inbox is empty");
  spawn([&] {
    controller.set_priority(TaskPriority::user_blocking);
    returned.store(1, sync::release);
  });
  spawn([&] { loop.run_until_idle(); });
  controller.set_priority(TaskPriority::user_visible);
  join_all();
  loop.run_until_idle();
  check(dynamic == 1, "it ran once");
}
