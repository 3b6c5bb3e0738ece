// Rule: ABT-3, ABT-5, PRI-2, PRI-3, PRI-6, LIF-2. Signals that depend on others.
#include <gmock/gmock.h>

#include <array>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "support/virtual_loop_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Any : public VirtualLoopFixture {
 protected:
  [[nodiscard]] auto on_abort(const AbortSignal& signal, const char* label) {
    return signal.on_abort(note(label));
  }
  [[nodiscard]] auto on_change(const TaskSignal& signal, std::string label) {
    return signal.on_priority_change([this, label](const PriorityChangeEvent& event) {
      trace.add(label + ":" + std::string(to_string(event.previous)) + ">" +
                std::string(to_string(event.signal.priority())));
    });
  }
};

TEST_F(Any, abort_when_signals_depend_then_root_first_and_dependents_in_order_of_creation) {
  AbortController a;
  AbortController b;
  const auto first = AbortSignal::any({a.signal(), b.signal()});
  const auto second = AbortSignal::any({first, a.signal()});
  const auto third = AbortSignal::any({second});
  const auto on3 = on_abort(third, "3");
  const auto on2 = on_abort(second, "2");
  const auto on1 = on_abort(first, "1");
  const auto on_root = on_abort(a.signal(), "root");
  a.abort("why");
  EXPECT_THAT(trace.take(), ElementsAre("root", "1", "2", "3"));
  EXPECT_EQ(third.reason(), a.signal().reason());
  b.abort("late");
  EXPECT_THAT(trace.take(), IsEmpty());
}

TEST_F(Any, abort_when_listener_looks_then_all_dependents_are_marked) {
  AbortController a;
  const auto dependent = AbortSignal::any({a.signal()});
  std::optional<AbortSignal> born;
  const auto on_root = a.signal().on_abort([&] {
    trace.add(dependent.aborted() ? "marked" : "not marked");
    born = AbortSignal::any({dependent});
  });
  a.abort();
  EXPECT_THAT(trace.take(), ElementsAre("marked"));
  ASSERT_TRUE(born);
  EXPECT_TRUE(born->aborted());
}

TEST_F(Any, abort_when_another_source_is_aborted_by_a_listener_then_first_reason_and_one_event) {
  AbortController a;
  AbortController b;
  const auto dependent = AbortSignal::any({a.signal(), b.signal()});
  const auto on_dependent = on_abort(dependent, "dependent");
  const auto on_a = a.signal().on_abort([&] { b.abort("second"); });
  a.abort("first");
  EXPECT_THAT(trace.take(), ElementsAre("dependent"));
  EXPECT_EQ(*dependent.reason().value<std::string>(), "first");
}

TEST_F(Any, abort_when_a_listener_destroys_the_reason_it_was_called_with_then_dependents_have_it) {
  AbortController a;
  const auto dependent = AbortSignal::any({a.signal()});
  const auto result = post_task("task", {.signal = dependent});
  auto reason = std::make_unique<Reason>("why");
  const auto on_root = a.signal().on_abort([&] { reason.reset(); });
  a.abort(*reason);
  EXPECT_EQ(*result.reason().value<std::string>(), "why");
  EXPECT_THAT(run(), IsEmpty());
}

TEST_F(Any, tasks_when_a_source_aborts_then_rejected_and_never_run) {
  AbortController a;
  TaskController priority(background);
  const auto signal = TaskSignal::any({a.signal()}, priority.signal());
  auto result = post_task("task", {.signal = signal});
  auto delayed = post_task("delayed", {.signal = signal, .delay = 1h});
  a.abort();
  EXPECT_THROW(std::move(result).get(), AbortError);
  EXPECT_THROW(std::move(delayed).get(), AbortError);
  EXPECT_THAT(run(), IsEmpty());
}

TEST_F(Any, priority_when_source_changes_then_queued_tasks_of_dependents_move) {
  TaskController controller(background);
  const auto signal = TaskSignal::any({}, controller.signal());
  const auto nested = TaskSignal::any({}, signal);
  post("own", {.signal = controller.signal()});
  post("dependent", {.signal = signal});
  post("nested", {.signal = nested});
  post("visible");
  controller.set_priority(user_blocking);
  EXPECT_THAT(run(), ElementsAre("own", "dependent", "nested", "visible"));
}

TEST_F(Any, priority_when_fixed_then_static_and_nested_is_fixed_too) {
  TaskController controller(background);
  const auto fixed = TaskSignal::any({controller.signal()}, user_blocking);
  const auto nested = TaskSignal::any({}, fixed);
  post("visible");
  post("nested", {.signal = nested});
  post("fixed", {.signal = fixed});
  controller.set_priority(user_visible);
  EXPECT_EQ(nested.priority(), user_blocking);
  EXPECT_THAT(run(), ElementsAre("nested", "fixed", "visible"));
}

// Rule: PRI-2, PRI-3. A task signal is one through whatever handle.
TEST_F(Any, as_task_signal_when_the_handle_is_an_abort_signal_then_the_priority_is_kept) {
  TaskController controller(background);
  const AbortSignal request = controller.signal();
  ASSERT_TRUE(request.as_task_signal());
  EXPECT_EQ(request.as_task_signal(), controller.signal());
  AbortController deadline;
  const auto limited = TaskSignal::any({request, deadline.signal()}, *request.as_task_signal());
  post("handle", {.signal = request});
  post("limited", {.signal = limited});
  post("visible");
  controller.set_priority(user_blocking);
  EXPECT_THAT(run(), ElementsAre("handle", "limited", "visible"));
  deadline.abort();
  EXPECT_TRUE(limited.aborted());
  EXPECT_FALSE(request.aborted());
}

// Rule: PRI-2
TEST_F(Any, as_task_signal_when_the_signal_has_no_priority_then_nothing) {
  const TaskController controller(user_blocking);
  EXPECT_FALSE(AbortController().signal().as_task_signal());
  EXPECT_FALSE(AbortSignal::any({AbortSignal(controller.signal())}).as_task_signal());
  const AbortSignal fixed = TaskSignal::any({}, background);
  EXPECT_EQ(fixed.as_task_signal().value().priority(), background);
}

TEST_F(Any,
       priority_event_when_source_changes_then_its_own_first_and_visible_value_with_the_event) {
  TaskController controller(background);
  const auto a = TaskSignal::any({}, controller.signal());
  const auto b = TaskSignal::any({}, a);
  const auto on_b = on_change(b, "b");
  const auto on_a = a.on_priority_change([&](const PriorityChangeEvent&) {
    trace.add("a, b is " + std::string(to_string(b.priority())));
  });
  const auto on_root = controller.signal().on_priority_change([&] {
    trace.add("root, a is " + std::string(to_string(a.priority())));
    EXPECT_THROW(controller.set_priority(background), NotAllowedError);
  });
  controller.set_priority(user_blocking);
  EXPECT_THAT(trace.take(), ElementsAre("root, a is background", "a, b is background",
                                        "b:background>user-blocking"));
}

TEST_F(Any, any_when_made_by_a_listener_of_the_change_then_new_value_and_no_event) {
  TaskController controller(background);
  std::vector<TaskSignal> made;
  std::vector<Subscription> subscriptions;
  const auto on_root = controller.signal().on_priority_change([&] {
    made.push_back(TaskSignal::any({}, controller.signal()));
    subscriptions.push_back(on_change(made.back(), "made"));
  });
  controller.set_priority(user_blocking);
  EXPECT_THAT(trace.take(), IsEmpty());
  EXPECT_EQ(made.at(0).priority(), user_blocking);
}

TEST_F(Any, any_when_a_handle_was_moved_from_then_refused_and_nothing_linked) {
  const AbortController a;
  std::array<AbortSignal, 2> signals{a.signal(), a.signal()};
  const AbortSignal gone = std::move(signals[1]);
  EXPECT_THROW(static_cast<void>(AbortSignal::any(signals)), std::invalid_argument);
}

TEST_F(Any, dependent_when_controller_is_gone_then_it_keeps_its_last_value) {
  std::optional<TaskController> controller(background);
  const auto signal = TaskSignal::any({controller->signal()}, controller->signal());
  controller->set_priority(user_blocking);
  controller.reset();
  EXPECT_EQ(signal.priority(), user_blocking);
  EXPECT_FALSE(signal.aborted());
  post("visible");
  post("dependent", {.signal = signal});
  EXPECT_THAT(run(), ElementsAre("dependent", "visible"));
}

TEST_F(Any, dependent_when_dropped_before_the_abort_then_nothing_of_it_runs) {
  AbortController root;
  for (int i = 0; i < 1000; ++i) {
    const AbortController request;
    const auto dropped = AbortSignal::any({request.signal(), root.signal()});
    const auto subscription = on_abort(dropped, "dropped");
  }
  root.abort();
  EXPECT_THAT(trace.take(), IsEmpty());
}

}  // namespace
}  // namespace heist::support
