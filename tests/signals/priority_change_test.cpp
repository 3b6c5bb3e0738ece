// set_priority as listeners see it: events, re-entrancy, and calls that overlap.
#include <cstdint>
#include <functional>
#include <heist/task_signal.hpp>
#include <memory>
#include <optional>
#include <ostream>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/threads.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace heist {
namespace {

using namespace support;  // NOLINT(google-build-using-namespace): the whole of it is for tests
using testing::ElementsAre;
using testing::IsEmpty;

/// A change of priority, as a listener was told of it.
struct Change {
  TaskPriority previous;
  TaskPriority current;

  friend bool operator==(const Change&, const Change&) = default;
  friend void PrintTo(const Change& change, std::ostream* out) {
    *out << to_string(change.previous) << " -> " << to_string(change.current);
  }
};

class PriorityChangeTest : public VirtualLoopFixture {
 protected:
  /// Records every change; then calls `react(number of changes so far)`.
  Subscription record(std::function<void(std::size_t)> react = [](std::size_t) {}) {
    return signal.on_priority_change([this, probe = callbacks.probe(),
                                      react = std::move(react)](const PriorityChangeEvent& event) {
      changes.push_back({event.previous, event.current});
      react(changes.size());
    });
  }

  TaskController controller{user_visible};
  TaskSignal signal = controller.signal();
  std::vector<Change> changes;
};

class Evt : public PriorityChangeTest {};

TEST_F(
    Evt,
    WPT_EVT_01_set_priority_when_the_value_changes_then_the_event_has_both_values_and_the_signal) {
  int calls = 0;
  const auto subscription = signal.on_priority_change([&](const PriorityChangeEvent& event) {
    ++calls;
    EXPECT_EQ(event.signal, signal);
    EXPECT_EQ(event.previous, user_visible);
    EXPECT_EQ(event.current, user_blocking);
    EXPECT_EQ(event.signal.priority(), user_blocking);
  });
  controller.set_priority(user_blocking);
  EXPECT_EQ(calls, 1);
}

TEST_F(Evt,
       WPT_EVT_02_set_priority_when_several_listeners_then_each_once_in_order_of_registration) {
  const std::vector<std::string> labels{"1", "2", "3"};
  std::vector<Subscription> subscriptions;
  for (const auto& label : labels) subscriptions.push_back(signal.on_priority_change(note(label)));
  controller.set_priority(background);
  EXPECT_THAT(trace.take(), testing::ElementsAreArray(labels));
}

// Rule: PRI-7
TEST_F(Evt, WPT_PRI_09_set_priority_when_the_value_is_the_same_then_no_event) {
  const auto subscription = record();
  controller.set_priority(user_visible);
  EXPECT_THAT(changes, IsEmpty());
}

// Rule: PRI-7
TEST_F(Evt,
       WPT_PRI_11_set_priority_when_the_signal_is_aborted_then_it_changes_and_the_event_comes) {
  const auto subscription = record();
  controller.abort();
  controller.set_priority(background);
  EXPECT_EQ(signal.priority(), background);
  EXPECT_THAT(changes, ElementsAre(Change{user_visible, background}));
}

/// What a function does that knows only the base classes.
void replace(AbortSignal& signal, const AbortSignal& other) { signal = other; }
void replace(AbortController& controller, const AbortController& other) { controller = other; }

// Rule: PRI-6. Then a handle of a TaskSignal stands for an AbortSignal, which has no priority.
TEST(TaskSignalByItsBase, priority_when_an_abort_signal_was_assigned_then_never_changes) {
  const AbortController other;
  TaskController controller(background);
  TaskSignal signal = controller.signal();
  replace(signal, other.signal());
  EXPECT_EQ(signal.priority(), user_visible);
  EXPECT_FALSE(signal.on_priority_change([] {}).active());
  replace(controller, other);
  controller.set_priority(user_blocking);
  EXPECT_EQ(controller.signal().priority(), user_visible);
}

class Pri6 : public PriorityChangeTest {};

// Rule: PRI-6
TEST_F(Pri6, WPT_PRI_06_set_priority_when_within_its_listeners_then_no_value_is_allowed) {
  const auto refused = [&](std::size_t) {
    for (const auto priority : every_priority) {
      EXPECT_THROW(controller.set_priority(priority), NotAllowedError);
      EXPECT_EQ(signal.priority(), user_blocking);
    }
  };
  const auto first = record(refused);
  const auto last = record(refused);
  controller.set_priority(user_blocking);
  EXPECT_EQ(signal.priority(), user_blocking);
  EXPECT_THAT(changes, testing::Each(Change{user_visible, user_blocking}));
  EXPECT_EQ(changes.size(), 2U);
}

// Rule: PRI-6
TEST_F(Pri6, set_priority_when_a_listener_lets_the_error_out_then_it_is_reported) {
  const auto subscription = record([&](std::size_t) { controller.set_priority(background); });
  EXPECT_NO_THROW(controller.set_priority(user_blocking));
  const auto reported = errors.take();
  ASSERT_EQ(reported.size(), 1U);
  EXPECT_EQ(reported[0].origin, ErrorOrigin::listener);
}

// Rule: PRI-6
TEST_F(Pri6, set_priority_when_the_delivery_is_over_then_allowed_again) {
  const auto subscription = record([&](std::size_t) {
    EXPECT_THROW(controller.set_priority(background), NotAllowedError);
    throw std::range_error("out of a listener");
  });
  controller.set_priority(user_blocking);
  EXPECT_NO_THROW(controller.set_priority(user_visible));
  EXPECT_EQ(changes.size(), 2U);
  EXPECT_EQ(errors.take().size(), 2U);
}

// Rule: PRI-6
TEST_F(Pri6, set_priority_when_re_entered_by_way_of_another_signal_then_not_allowed) {
  TaskController other;
  const auto back = other.signal().on_priority_change([&] {
    EXPECT_THROW(controller.set_priority(background), NotAllowedError);
    trace.add("tried");
  });
  const auto subscription = record([&](std::size_t) { other.set_priority(background); });
  controller.set_priority(user_blocking);
  EXPECT_THAT(trace.take(), ElementsAre("tried"));
}

// Rule: PRI-6
TEST_F(Pri6, set_priority_when_re_entered_by_a_task_run_in_the_listener_then_not_allowed) {
  loop.needs_driver();
  const auto subscription = record([&](std::size_t) {
    const auto task = scheduler.post_task([&] { controller.set_priority(background); });
    loop.run_until_idle();
    EXPECT_THROW(task.get(), NotAllowedError);
  });
  controller.set_priority(user_blocking);
  EXPECT_EQ(changes.size(), 1U);
}

// Rule: PRI-6
TEST_F(Pri6, set_priority_when_of_another_signal_within_a_listener_then_allowed) {
  TaskController other;
  const auto subscription = record([&](std::size_t) { other.set_priority(background); });
  controller.set_priority(user_blocking);
  EXPECT_EQ(other.signal().priority(), background);
}

// Rule: PRI-6
TEST_F(Pri6, abort_when_within_a_priority_listener_then_allowed) {
  const auto on_abort = signal.on_abort(note("abort"));
  const auto subscription = record([&](std::size_t) { controller.abort(); });
  controller.set_priority(user_blocking);
  EXPECT_THAT(trace.take(), ElementsAre("abort"));
}

// Rule: PRI-6
TEST_F(Pri6, set_priority_when_within_an_abort_listener_then_allowed) {
  const auto subscription = record();
  const auto on_abort = signal.on_abort([&] { controller.set_priority(background); });
  controller.abort();
  EXPECT_THAT(changes, ElementsAre(Change{user_visible, background}));
}

/// Calls of set_priority that overlap: other threads call it while a listener runs.
class Pri6Overlap : public PriorityChangeTest {
 protected:
  void set_on(Worker& worker, TaskPriority priority) {
    worker.run([&] { EXPECT_NO_THROW(controller.set_priority(priority)); });
  }

  Worker a;
  Worker b;
};

// Rule: PRI-6, ABT-8
TEST_F(Pri6Overlap,
       WPT_MT_07_set_priority_when_another_thread_delivers_then_that_one_delivers_this_too) {
  std::vector<std::thread::id> delivered_on;
  const auto subscription = record([&](std::size_t number) {
    delivered_on.push_back(std::this_thread::get_id());
    if (number == 1) set_on(a, background);
  });
  controller.set_priority(user_blocking);
  EXPECT_THAT(changes,
              ElementsAre(Change{user_visible, user_blocking}, Change{user_blocking, background}));
  EXPECT_THAT(delivered_on, testing::Each(std::this_thread::get_id()));
}

// Rule: PRI-6
TEST_F(Pri6Overlap, priority_when_an_overlapping_call_returned_then_is_newer_than_the_event) {
  std::vector<TaskPriority> seen;
  const auto subscription = record([&](std::size_t number) {
    if (number == 1) set_on(a, background);
    seen.push_back(signal.priority());
  });
  controller.set_priority(user_blocking);
  EXPECT_THAT(seen, ElementsAre(background, background));
  EXPECT_EQ(changes[0].current, user_blocking);
}

// Rule: PRI-6, PRI-7
TEST_F(Pri6Overlap, WPT_MT_07_set_priority_when_calls_overlap_then_what_they_leave_is_delivered) {
  const struct {
    std::vector<TaskPriority> calls;  ///< amid the delivery of user-visible -> user-blocking
    std::vector<Change> more;         ///< what is delivered after that
  } cases[] = {
      {{background, user_visible, user_blocking, background}, {{user_blocking, background}}},
      {{background, user_blocking}, {}},
      {{user_blocking}, {}},
      {{user_visible}, {{user_blocking, user_visible}}}};
  for (const auto& [calls, more] : cases) {
    controller.set_priority(user_visible);
    changes.clear();
    const auto subscription = record([&, &overlapping = calls](std::size_t number) {
      if (number != 1) return;
      for (std::size_t i = 0; i < overlapping.size(); ++i)
        set_on(i % 2 == 0 ? a : b, overlapping[i]);
    });
    controller.set_priority(user_blocking);
    std::vector<Change> expected{{user_visible, user_blocking}};
    expected.insert(expected.end(), more.begin(), more.end());
    EXPECT_EQ(changes, expected);
    EXPECT_EQ(signal.priority(), calls.back());
  }
}

// Rule: PRI-6
TEST_F(Pri6Overlap, set_priority_when_calls_overlap_a_later_delivery_then_they_are_delivered_too) {
  const auto subscription = record([&](std::size_t number) {
    if (number == 1) set_on(a, background);
    if (number == 2) set_on(b, user_visible);
    if (number == 3) set_on(a, user_blocking);
  });
  controller.set_priority(user_blocking);
  EXPECT_THAT(changes,
              ElementsAre(Change{user_visible, user_blocking}, Change{user_blocking, background},
                          Change{background, user_visible}, Change{user_visible, user_blocking}));
}

// Rule: PRI-6
TEST_F(Pri6Overlap, set_priority_when_two_listeners_then_all_hear_a_change_before_the_next_one) {
  std::vector<std::string> heard;
  const auto hear = [&](std::string listener) {
    return [&, listener](const PriorityChangeEvent& event) {
      heard.push_back(listener + to_string(event.current).data());
    };
  };
  const auto first = signal.on_priority_change(hear("1 "));
  const auto changer = record([&](std::size_t number) {
    if (number == 1) set_on(a, background);
  });
  const auto last = signal.on_priority_change(hear("2 "));
  controller.set_priority(user_blocking);
  EXPECT_THAT(heard,
              ElementsAre("1 user-blocking", "2 user-blocking", "1 background", "2 background"));
}

// Rule: PRI-6
TEST_F(Pri6Overlap,
       set_priority_when_the_delivery_of_an_overlapping_call_re_enters_then_not_allowed) {
  const auto subscription = record([&](std::size_t number) {
    if (number == 1) set_on(a, background);
    EXPECT_THROW(controller.set_priority(user_visible), NotAllowedError);
  });
  controller.set_priority(user_blocking);
  EXPECT_EQ(changes.size(), 2U);
}

// Rule: PRI-6, PRI-3
TEST_F(Pri6Overlap, pick_when_an_overlapping_call_returned_then_uses_its_value) {
  post("dynamic", {.signal = signal});
  post("uv");
  arrive();
  std::vector<std::string> seen;
  const auto subscription = record([&](std::size_t number) {
    if (number != 1) return;
    b.run([&] { arrive(); });  // what the first change sent is taken
    set_on(a, background);
    b.run([&] { seen = run(); });
  });
  controller.set_priority(user_blocking);
  EXPECT_THAT(seen, ElementsAre("uv", "dynamic"));
}

// Rule: PRI-6
TEST_F(Pri6Overlap, set_priority_when_the_deliverer_is_done_then_the_next_call_delivers_itself) {
  std::vector<std::thread::id> delivered_on;
  const auto subscription = record([&](std::size_t number) {
    delivered_on.push_back(std::this_thread::get_id());
    if (number == 1) set_on(a, background);
  });
  controller.set_priority(user_blocking);
  std::thread::id thread_of_b;
  b.run([&] {
    thread_of_b = std::this_thread::get_id();
    controller.set_priority(user_visible);
  });
  const auto own = std::this_thread::get_id();
  EXPECT_THAT(delivered_on, ElementsAre(own, own, thread_of_b));
}

// Rule: PRI-6, LIF-2
TEST_F(Pri6Overlap, set_priority_when_a_listener_drops_the_controller_then_all_is_still_delivered) {
  auto own = std::make_unique<TaskController>(user_visible);
  std::vector<TaskPriority> heard;
  const auto subscription = own->signal().on_priority_change([&](const PriorityChangeEvent& event) {
    heard.push_back(event.current);
    if (heard.size() != 1) return;
    a.run([&] { own->set_priority(background); });
    own.reset();
  });
  own->set_priority(user_blocking);
  EXPECT_THAT(heard, ElementsAre(user_blocking, background));
}

// Rule: PRI-6. Whatever the interleaving, the events are one unbroken chain to the last value.
TEST_F(Pri6Overlap,
       WPT_MT_07_set_priority_when_two_threads_call_at_will_then_the_events_form_a_chain) {
  constexpr int calls = 2000;
  const auto subscription = record();
  const auto call_often = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < calls; ++i) {
      EXPECT_NO_THROW(controller.set_priority(static_cast<TaskPriority>(random() % 3)));
    }
  };
  std::thread other([&] { call_often(1); });
  call_often(2);
  other.join();
  TaskPriority last = user_visible;
  for (const Change& change : changes) {
    ASSERT_EQ(change.previous, last);
    ASSERT_NE(change.current, last);
    last = change.current;
  }
  EXPECT_EQ(last, signal.priority());
}

}  // namespace
}  // namespace heist
