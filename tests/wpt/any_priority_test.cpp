// any: task signals with a priority of their own, or that of a source.
#include <heist/task_signal.hpp>
#include <optional>
#include <type_traits>
#include <vector>

#include "support/virtual_loop_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::array all_priorities{background, user_visible, user_blocking};

class WptAnyPriority : public VirtualLoopFixture {
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

TEST_F(WptAnyPriority, WPT_ANYP_01_any_when_without_a_priority_then_user_visible) {
  const auto signal = TaskSignal::any({});
  static_assert(std::is_same_v<decltype(signal), const TaskSignal>);
  EXPECT_EQ(signal.priority(), user_visible);
}

TEST_F(WptAnyPriority, WPT_ANYP_02_any_when_given_a_priority_then_has_it) {
  for (const auto priority : all_priorities) {
    EXPECT_EQ(TaskSignal::any({}, priority).priority(), priority);
  }
}

TEST_F(WptAnyPriority, WPT_ANYP_03_any_when_given_a_source_then_begins_with_its_priority) {
  for (const auto priority : all_priorities) {
    const TaskController controller(priority);
    EXPECT_EQ(TaskSignal::any({}, controller.signal()).priority(), priority);
  }
}

TEST_F(WptAnyPriority, WPT_ANYP_04_any_when_its_source_changes_then_follows_every_change) {
  const auto signal = following();
  for (const auto priority : {user_blocking, background, user_visible, user_blocking}) {
    source.set_priority(priority);
    EXPECT_EQ(signal.priority(), priority);
  }
}

TEST_F(WptAnyPriority, WPT_ANYP_05_event_when_the_source_changes_then_once_with_the_composite) {
  const auto signal = following();
  const auto subscription = note_change(signal, "change");
  source.set_priority(user_blocking);
  EXPECT_THAT(trace.take(), ElementsAre("change"));
  source.set_priority(background);
  EXPECT_THAT(trace.take(), ElementsAre("change"));
}

TEST_F(WptAnyPriority, WPT_ANYP_06_event_when_in_a_chain_of_composites_then_once_with_the_last) {
  auto outermost = following();
  for (int i = 0; i < 4; ++i) outermost = TaskSignal::any({}, outermost);
  const auto subscription = note_change(outermost, "change");
  source.set_priority(user_blocking);
  EXPECT_EQ(outermost.priority(), user_blocking);
  EXPECT_THAT(trace.take(), ElementsAre("change"));
}

TEST_F(WptAnyPriority, WPT_ANYP_07_events_when_of_many_dependents_then_in_order_of_creation) {
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

TEST_F(WptAnyPriority,
       WPT_ANYP_08_abort_when_of_the_priority_source_then_no_abort_of_the_composite) {
  const auto signal = following();
  source.abort();
  EXPECT_FALSE(signal.aborted());
}

TEST_F(WptAnyPriority,
       WPT_ANYP_09_any_when_abort_and_priority_have_sources_then_each_follows_its_own) {
  AbortController aborter;
  const auto signal = TaskSignal::any({aborter.signal()}, source.signal());
  source.abort();
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

TEST_F(WptAnyPriority, WPT_ANYP_10_any_when_born_aborted_then_its_priority_follows_all_the_same) {
  AbortController aborter;
  aborter.abort();
  const auto signal = TaskSignal::any({aborter.signal()}, source.signal());
  EXPECT_TRUE(signal.aborted());
  const auto subscription = note_change(signal, "change");
  source.set_priority(user_blocking);
  EXPECT_EQ(signal.priority(), user_blocking);
  EXPECT_THAT(trace.take(), ElementsAre("change"));
}

/// Makes a dependent within a listener.
class WptAnyPriorityWithin : public WptAnyPriority {
 protected:
  [[nodiscard]] auto make_dependent() {
    return [this] {
      if (made) return;
      made = following();
      subscription = note_change(*made, "change");
      EXPECT_EQ(made->priority(), source.signal().priority());
    };
  }
  void expect_no_event_for_this_change() {
    source.set_priority(user_blocking);
    ASSERT_TRUE(made);
    EXPECT_EQ(made->priority(), user_blocking);
    EXPECT_THAT(trace.take(), IsEmpty());
    source.set_priority(background);
    EXPECT_EQ(made->priority(), background);
    EXPECT_THAT(trace.take(), ElementsAre("change"));
  }

  std::optional<TaskSignal> made;
  Subscription subscription;
};

TEST_F(WptAnyPriorityWithin, WPT_ANYP_11_any_when_made_in_the_sources_listener_then_no_event_yet) {
  const auto outer = source.signal().on_priority_change(make_dependent());
  expect_no_event_for_this_change();
}

TEST_F(WptAnyPriorityWithin, WPT_ANYP_12_any_when_made_in_a_dependents_listener_then_no_event_yet) {
  const auto dependent = following();
  const auto outer = dependent.on_priority_change(make_dependent());
  expect_no_event_for_this_change();
}

class WptAnyOrder : public WptAnyPriority {};

TEST_F(WptAnyOrder,
       WPT_ORD_05_tasks_when_of_composites_of_fixed_priority_then_as_plain_priorities) {
  for (const char* round : {" 1", " 2"}) {
    for (const auto priority : all_priorities) {
      const std::string label = std::to_string(static_cast<int>(priority)) + round;
      post("composite " + label, {.signal = TaskSignal::any({}, priority)});
      post("plain " + label, {.priority = priority});
    }
  }
  EXPECT_THAT(run(), ElementsAre("composite 2 1", "plain 2 1", "composite 2 2", "plain 2 2",
                                 "composite 1 1", "plain 1 1", "composite 1 2", "plain 1 2",
                                 "composite 0 1", "plain 0 1", "composite 0 2", "plain 0 2"));
}

TEST_F(WptAnyOrder, WPT_ORD_06_tasks_when_the_composites_source_is_lowered_then_they_move) {
  source.set_priority(user_blocking);
  const auto signal = following();
  post("composite 1", {.signal = signal});
  post("composite 2", {.signal = signal});
  post("visible");
  post("of the source", {.signal = source.signal()});
  source.set_priority(background);
  EXPECT_THAT(run(), ElementsAre("visible", "composite 1", "composite 2", "of the source"));
}

TEST_F(WptAnyOrder, WPT_ORD_07_tasks_when_the_composites_source_is_fixed_then_fixed_too) {
  const auto fixed = TaskSignal::any({}, user_blocking);
  const auto signal = TaskSignal::any({}, fixed);
  EXPECT_EQ(signal.priority(), user_blocking);
  post("visible");
  post("composite", {.signal = signal});
  post("blocking", {.priority = user_blocking});
  EXPECT_THAT(run(), ElementsAre("composite", "blocking", "visible"));
}

class WptAnyNormative : public WptAnyPriority {};

TEST_F(WptAnyNormative,
       WPT_SP_09_dependents_when_their_source_is_gone_then_keep_its_last_priority) {
  std::optional<TaskController> short_lived(background);
  const auto direct = TaskSignal::any({}, short_lived->signal());
  const auto indirect = TaskSignal::any({}, direct);
  short_lived->set_priority(user_blocking);
  short_lived.reset();
  EXPECT_EQ(direct.priority(), user_blocking);
  EXPECT_EQ(indirect.priority(), user_blocking);
  EXPECT_EQ(TaskSignal::any({}, indirect).priority(), user_blocking);
  post("visible");
  post("dependent", {.signal = indirect});
  EXPECT_THAT(run(), ElementsAre("dependent", "visible"));
}

TEST_F(WptAnyNormative, WPT_SP_10_set_priority_when_within_a_dependents_listener_then_not_allowed) {
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

}  // namespace
}  // namespace heist::support
