// Rule: ABT-3, PRI-2, PRI-3, PRI-6, LIF-2. any: task signals with a priority of their own, or that
// of a source.
#include <gmock/gmock.h>

#include <heist/heist.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/virtual_loop_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class AnyPriority : public VirtualLoopFixture {
 protected:
  [[nodiscard]] TaskSignal following() const { return TaskSignal::any({}, source.signal()); }
  /// Notes `label`, and whether the event is this signal's.
  Subscription note_change(const TaskSignal& signal, std::string label) {
    return signal.on_priority_change(
        [this, signal, label = std::move(label)](const PriorityChangeEvent& event) {
          EXPECT_EQ(event.signal, signal);
          EXPECT_EQ(signal.priority(), event.current);
          trace.add(label);
        });
  }

  TaskController source;
};

TEST_F(AnyPriority, WPT_ANYP_01_any_when_without_a_priority_then_user_visible) {
  const auto signal = TaskSignal::any({});
  static_assert(std::is_same_v<decltype(signal), const TaskSignal>);
  EXPECT_EQ(signal.priority(), user_visible);
}

TEST_F(AnyPriority, WPT_ANYP_02_WPT_ANYP_03_any_when_given_a_priority_or_a_source_then_has_that) {
  for (const auto priority : every_priority) {
    EXPECT_EQ(TaskSignal::any({}, priority).priority(), priority);
    const TaskController controller(priority);
    EXPECT_EQ(TaskSignal::any({}, controller.signal()).priority(), priority);
  }
}

TEST_F(AnyPriority, WPT_ANYP_04_to_06_event_when_the_source_changes_then_once_and_the_composites) {
  auto last_of_chain = following();
  for (int i = 0; i < 4; ++i) last_of_chain = TaskSignal::any({}, last_of_chain);
  for (const TaskSignal& signal : {following(), last_of_chain}) {
    const auto subscription = note_change(signal, "change");
    for (const auto priority : {user_blocking, background, user_blocking, user_visible}) {
      source.set_priority(priority);
      EXPECT_EQ(signal.priority(), priority);
      EXPECT_THAT(trace.take(), ElementsAre("change"));
    }
  }
}

TEST_F(AnyPriority, WPT_ANYP_07_events_when_of_many_dependents_then_in_order_of_creation) {
  std::vector<TaskSignal> signals;
  for (int i = 0; i < 3; ++i) signals.push_back(following());
  for (std::size_t i = 0; i < 3; ++i) signals.push_back(TaskSignal::any({}, signals[i]));
  std::vector<Subscription> subscriptions;
  for (std::size_t i = signals.size(); i-- > 0;) {
    subscriptions.push_back(note_change(signals[i], std::to_string(i)));
  }
  for (const auto priority : {user_blocking, background}) {
    source.set_priority(priority);
    EXPECT_THAT(trace.take(), ElementsAre("0", "1", "2", "3", "4", "5"));
  }
}

TEST_F(AnyPriority,
       WPT_ANYP_08_WPT_ANYP_09_any_when_abort_and_priority_have_sources_then_each_follows_its_own) {
  AbortController aborter;
  const auto without_abort_source = following();
  const auto signal = TaskSignal::any({aborter.signal()}, source.signal());
  source.abort();
  EXPECT_FALSE(without_abort_source.aborted());
  EXPECT_FALSE(signal.aborted());
  source.set_priority(user_blocking);
  EXPECT_EQ(signal.priority(), user_blocking);
  aborter.abort("reason");
  EXPECT_EQ(signal.reason(), aborter.signal().reason());
  const auto subscription = note_change(signal, "change");
  source.set_priority(background);
  EXPECT_EQ(signal.priority(), background);
  EXPECT_THAT(trace.take(), ElementsAre("change"));
}

TEST_F(AnyPriority, WPT_ANYP_10_any_when_born_aborted_then_its_priority_follows_all_the_same) {
  AbortController aborter;
  aborter.abort();
  const auto signal = TaskSignal::any({aborter.signal()}, source.signal());
  EXPECT_TRUE(signal.aborted());
  const auto subscription = note_change(signal, "change");
  source.set_priority(user_blocking);
  EXPECT_EQ(signal.priority(), user_blocking);
  EXPECT_THAT(trace.take(), ElementsAre("change"));
}

TEST_F(AnyPriority,
       WPT_ANYP_11_WPT_ANYP_12_any_when_made_in_a_listener_then_the_new_value_and_no_event_yet) {
  const auto dependent = following();
  for (const TaskSignal& heard : {source.signal(), dependent}) {
    std::optional<TaskSignal> made;
    Subscription subscription;
    const auto making = heard.on_priority_change([&] {
      if (made) return;
      made = following();
      subscription = note_change(*made, "change");
      EXPECT_EQ(made->priority(), source.signal().priority());
    });
    source.set_priority(user_blocking);
    ASSERT_TRUE(made);
    EXPECT_EQ(made->priority(), user_blocking);
    EXPECT_THAT(trace.take(), IsEmpty());
    source.set_priority(background);
    EXPECT_EQ(made->priority(), background);
    EXPECT_THAT(trace.take(), ElementsAre("change"));
  }
}

TEST_F(AnyPriority, events_when_the_source_changes_then_each_value_is_visible_with_its_event) {
  const auto a = following();
  const auto b = TaskSignal::any({}, a);
  const auto text_of = [](TaskPriority priority) { return std::string(to_string(priority)); };
  const auto on_b = b.on_priority_change([&](const PriorityChangeEvent& event) {
    trace.add("b: " + text_of(event.previous) + " > " + text_of(event.signal.priority()));
  });
  const auto on_a =
      a.on_priority_change([&] { trace.add("a, while b is " + text_of(b.priority())); });
  const auto on_root = source.signal().on_priority_change([&] {
    trace.add("root, while a is " + text_of(a.priority()));
    EXPECT_THROW(source.set_priority(background), NotAllowedError);
  });
  source.set_priority(user_blocking);
  EXPECT_THAT(trace.take(),
              ElementsAre("root, while a is user-visible", "a, while b is user-visible",
                          "b: user-visible > user-blocking"));
}

TEST_F(AnyPriority, WPT_SP_10_set_priority_when_within_a_dependents_listener_then_not_allowed) {
  const auto first = following();
  const auto last = following();
  const auto refused = [this] {
    EXPECT_THROW(source.set_priority(user_visible), NotAllowedError);
    trace.add("refused");
  };
  const auto in_first = first.on_priority_change(refused);
  const auto in_last = last.on_priority_change(refused);
  source.set_priority(user_blocking);
  EXPECT_THAT(trace.take(), ElementsAre("refused", "refused"));
  EXPECT_EQ(source.signal().priority(), user_blocking);
  EXPECT_NO_THROW(source.set_priority(user_visible));
  EXPECT_THAT(trace.take(), ElementsAre("refused", "refused"));
}

// Tasks of such signals.

using AnyTasks = AnyPriority;

TEST_F(AnyTasks, WPT_ORD_05_tasks_when_of_composites_of_fixed_priority_then_as_plain_priorities) {
  for (const char* round : {" 1", " 2"}) {
    for (const auto priority : every_priority) {
      const std::string label = std::to_string(static_cast<int>(priority)) + round;
      post("composite " + label, {.signal = TaskSignal::any({}, priority)});
      post("plain " + label, {.priority = priority});
    }
  }
  EXPECT_THAT(run(), ElementsAre("composite 2 1", "plain 2 1", "composite 2 2", "plain 2 2",
                                 "composite 1 1", "plain 1 1", "composite 1 2", "plain 1 2",
                                 "composite 0 1", "plain 0 1", "composite 0 2", "plain 0 2"));
}

TEST_F(AnyTasks, WPT_ORD_06_tasks_when_the_composites_source_changes_then_they_move) {
  const auto signal = following();
  const auto nested = TaskSignal::any({}, signal);
  const auto order_when_moved = [&](TaskPriority from, TaskPriority to) {
    source.set_priority(from);
    post("source", {.signal = source.signal()});
    post("composite 1", {.signal = signal});
    post("composite 2", {.signal = signal});
    post("visible");
    post("nested", {.signal = nested});
    source.set_priority(to);
    return run();
  };
  EXPECT_THAT(order_when_moved(user_blocking, background),
              ElementsAre("visible", "source", "composite 1", "composite 2", "nested"));
  EXPECT_THAT(order_when_moved(background, user_blocking),
              ElementsAre("source", "composite 1", "composite 2", "nested", "visible"));
}

TEST_F(AnyTasks, WPT_ORD_07_tasks_when_the_composites_source_is_fixed_then_fixed_too) {
  const auto fixed = TaskSignal::any({source.signal()}, user_blocking);
  const auto nested = TaskSignal::any({}, fixed);
  post("visible");
  post("nested", {.signal = nested});
  post("blocking", {.priority = user_blocking});
  post("fixed", {.signal = fixed});
  source.set_priority(background);
  EXPECT_EQ(nested.priority(), user_blocking);
  EXPECT_THAT(run(), ElementsAre("nested", "blocking", "fixed", "visible"));
}

TEST_F(AnyTasks, WPT_SP_09_dependents_when_their_source_is_gone_then_keep_its_last_priority) {
  std::optional<TaskController> short_lived(background);
  const auto direct = TaskSignal::any({short_lived->signal()}, short_lived->signal());
  const auto indirect = TaskSignal::any({}, direct);
  short_lived->set_priority(user_blocking);
  short_lived.reset();
  EXPECT_FALSE(direct.aborted());
  EXPECT_EQ(direct.priority(), user_blocking);
  EXPECT_EQ(indirect.priority(), user_blocking);
  EXPECT_EQ(TaskSignal::any({}, indirect).priority(), user_blocking);
  post("visible");
  post("direct", {.signal = direct});
  post("indirect", {.signal = indirect});
  EXPECT_THAT(run(), ElementsAre("direct", "indirect", "visible"));
}

TEST_F(AnyTasks, tasks_when_an_abort_source_aborts_then_rejected_and_never_run) {
  AbortController aborter;
  const auto signal = TaskSignal::any({aborter.signal()}, source.signal());
  auto result = post_task("task", {.signal = signal});
  auto delayed = post_task("delayed", {.signal = signal, .delay = 1h});
  aborter.abort();
  EXPECT_THROW(std::move(result).get(), AbortError);
  EXPECT_THROW(std::move(delayed).get(), AbortError);
  EXPECT_THAT(run(), IsEmpty());
}

// Rule: PRI-2, PRI-3. A task signal is one through whatever handle.
TEST_F(AnyTasks, as_task_signal_when_the_handle_is_an_abort_signal_then_the_priority_is_kept) {
  const AbortSignal request = source.signal();
  ASSERT_TRUE(request.as_task_signal());
  EXPECT_EQ(request.as_task_signal(), source.signal());
  AbortController deadline;
  const auto limited = TaskSignal::any({request, deadline.signal()}, *request.as_task_signal());
  source.set_priority(background);
  post("handle", {.signal = request});
  post("limited", {.signal = limited});
  post("visible");
  source.set_priority(user_blocking);
  EXPECT_THAT(run(), ElementsAre("handle", "limited", "visible"));
  deadline.abort();
  EXPECT_TRUE(limited.aborted());
  EXPECT_FALSE(request.aborted());
}

// Rule: PRI-2
TEST_F(AnyTasks, as_task_signal_when_the_signal_has_no_priority_then_nothing) {
  EXPECT_FALSE(AbortController().signal().as_task_signal());
  EXPECT_FALSE(AbortSignal::any({AbortSignal(source.signal())}).as_task_signal());
  const AbortSignal fixed = TaskSignal::any({}, background);
  EXPECT_EQ(fixed.as_task_signal().value().priority(), background);
}

}  // namespace
}  // namespace heist::support
