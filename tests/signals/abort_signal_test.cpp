// AbortController and AbortSignal without any loop.
#include <heist/abort_signal.hpp>
#include <heist/task_signal.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/runtime_fixture.hpp"

namespace heist {
namespace {

using support::RuntimeFixture;
using testing::ElementsAre;

class AbortSignalTest : public RuntimeFixture {
 protected:
  AbortController controller;
  AbortSignal signal = controller.signal();
};

TEST_F(AbortSignalTest, WPT_SIG_01_signal_when_new_then_not_aborted_and_without_a_reason) {
  EXPECT_FALSE(signal.aborted());
  EXPECT_FALSE(signal.reason());
  const TaskController task_controller;
  EXPECT_FALSE(task_controller.signal().aborted());
  EXPECT_FALSE(task_controller.signal().reason());
}

TEST_F(AbortSignalTest,
       WPT_SIG_02_abort_when_called_then_listeners_run_within_and_see_the_new_state) {
  std::vector<std::string> seen;
  const auto subscription = signal.on_abort([&] {
    seen.emplace_back(signal.aborted() ? "aborted" : "not aborted");
    seen.push_back(signal.reason().what());
  });
  controller.abort(std::range_error("why"));
  EXPECT_THAT(seen, ElementsAre("aborted", "why"));
}

TEST_F(AbortSignalTest, WPT_SIG_03_signal_when_asked_for_twice_then_is_the_same) {
  EXPECT_EQ(controller.signal(), signal);
  EXPECT_NE(AbortController().signal(), signal);
  const TaskController task_controller;
  EXPECT_EQ(task_controller.signal(), task_controller.signal());
}

TEST_F(AbortSignalTest, WPT_SIG_04_abort_when_called_twice_then_the_second_does_nothing) {
  int calls = 0;
  const auto subscription = signal.on_abort([&] { ++calls; });
  controller.abort();
  const Reason first = signal.reason();
  controller.abort(std::range_error("second"));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(signal.reason(), first);
}

// Rule: ABT-1. Two controllers' handles of one signal are the same signal.
TEST_F(AbortSignalTest, abort_when_the_controller_was_copied_then_either_aborts) {
  AbortController copy = controller;
  copy.abort(1);
  controller.abort(2);
  EXPECT_EQ(*signal.reason().value<int>(), 1);
}

TEST_F(AbortSignalTest,
       WPT_SIG_05_on_abort_when_aborted_already_then_never_called_and_dropped_at_once) {
  controller.abort();
  const auto subscription = signal.on_abort(tracked([] { ADD_FAILURE() << "called"; }));
  EXPECT_FALSE(subscription.active());
  EXPECT_EQ(callbacks.alive(), 0);
  controller.abort();
}

TEST_F(AbortSignalTest,
       WPT_SIG_06_listener_when_it_takes_the_signal_then_is_given_the_aborted_one) {
  std::optional<AbortSignal> given;
  const auto subscription =
      signal.on_abort([&](AbortSignal aborted) { given = std::move(aborted); });
  controller.abort();
  EXPECT_EQ(given, signal);
}

TEST_F(AbortSignalTest, WPT_SIG_07_abort_when_given_an_exception_then_that_is_the_reason) {
  controller.abort(std::range_error("why"));
  EXPECT_EQ(signal.reason().what(), "why");
  EXPECT_THROW(std::rethrow_exception(signal.reason().exception()), std::range_error);
}

TEST_F(AbortSignalTest, WPT_SIG_07_abort_when_given_an_exception_pointer_then_that_is_the_reason) {
  controller.abort(std::make_exception_ptr(std::range_error("why")));
  EXPECT_THROW(signal.throw_if_aborted(), std::range_error);
}

TEST_F(AbortSignalTest, WPT_SIG_07_abort_when_given_a_plain_value_then_that_is_the_reason) {
  controller.abort(0);
  EXPECT_TRUE(signal.aborted());
  EXPECT_EQ(*signal.reason().value<int>(), 0);
  EXPECT_EQ(signal.reason().value<long>(), nullptr);
  EXPECT_EQ(signal.reason().exception(), nullptr);
}

TEST_F(AbortSignalTest, WPT_SIG_07_abort_when_given_text_then_the_reason_is_a_string) {
  controller.abort("why");
  EXPECT_EQ(*signal.reason().value<std::string>(), "why");
}

TEST_F(AbortSignalTest, WPT_SIG_08_abort_when_without_a_reason_then_abort_error) {
  controller.abort();
  EXPECT_THROW(signal.throw_if_aborted(), AbortError);
}

TEST_F(AbortSignalTest, WPT_SIG_09_abort_when_given_an_empty_reason_then_abort_error) {
  controller.abort(Reason());
  EXPECT_THROW(signal.throw_if_aborted(), AbortError);
}

TEST_F(AbortSignalTest, WPT_SIG_14_throw_if_aborted_when_aborted_then_throws_the_very_exception) {
  controller.abort(std::range_error("why"));
  const void* thrown = nullptr;
  for (int i = 0; i < 2; ++i) {
    try {
      signal.throw_if_aborted();
      FAIL() << "nothing thrown";
    } catch (const std::range_error& error) {
      EXPECT_EQ(thrown == nullptr ? &error : thrown, &error);
      thrown = &error;
    }
  }
}

TEST_F(AbortSignalTest,
       WPT_SIG_15_throw_if_aborted_when_the_reason_is_a_plain_value_then_aborted_carries_it) {
  controller.abort(7);
  try {
    signal.throw_if_aborted();
    FAIL() << "nothing thrown";
  } catch (const Aborted& aborted) {
    EXPECT_EQ(aborted.reason(), signal.reason());
  }
}

TEST_F(AbortSignalTest, WPT_SIG_16_throw_if_aborted_when_not_aborted_then_does_nothing) {
  EXPECT_NO_THROW(signal.throw_if_aborted());
}

TEST_F(AbortSignalTest, WPT_SIG_17_WPT_SIG_18_reason_when_asked_for_twice_then_is_the_same_object) {
  controller.abort();
  EXPECT_EQ(signal.reason(), controller.signal().reason());
  EXPECT_NE(signal.reason(), Reason(AbortError()));
}

TEST_F(AbortSignalTest,
       WPT_SIG_20_abort_when_several_listeners_then_each_is_called_in_order_of_registration) {
  std::vector<Subscription> subscriptions;
  for (const auto* label : {"1", "2", "3", "4"}) {
    subscriptions.push_back(signal.on_abort(note(label)));
  }
  controller.abort();
  EXPECT_THAT(trace.take(), ElementsAre("1", "2", "3", "4"));
}

// Rule: ABT-5, LIF-2
TEST_F(AbortSignalTest, signal_when_its_controller_is_gone_then_keeps_its_state) {
  std::optional<AbortController> short_lived(std::in_place);
  const AbortSignal aborted = short_lived->signal();
  short_lived->abort(3);
  short_lived.reset();
  EXPECT_EQ(*aborted.reason().value<int>(), 3);
  const AbortSignal never_aborted = AbortController().signal();
  EXPECT_FALSE(never_aborted.aborted());
}

// Rule: LIF-2
TEST_F(AbortSignalTest,
       subscription_when_signal_and_controller_are_gone_then_may_be_dropped_later) {
  std::optional<Subscription> subscription;
  {
    const AbortController short_lived;
    subscription = short_lived.signal().on_abort(tracked([] {}));
  }
  EXPECT_TRUE(subscription->active());
  EXPECT_EQ(callbacks.alive(), 1);
  subscription.reset();
  EXPECT_EQ(callbacks.alive(), 0);
}

// Rule: LIF-2
TEST_F(AbortSignalTest, reason_when_its_signal_is_gone_then_stays) {
  Reason reason;
  {
    AbortController short_lived;
    short_lived.abort(std::range_error("why"));
    reason = short_lived.signal().reason();
  }
  EXPECT_EQ(reason.what(), "why");
}

// Rule: LIF-2
TEST_F(AbortSignalTest, abort_when_a_listener_drops_the_last_controller_then_the_others_still_run) {
  auto own = std::make_unique<AbortController>();
  const auto first = own->signal().on_abort([&] { own.reset(); });
  const auto second = own->signal().on_abort(note("second"));
  own->abort();
  EXPECT_THAT(trace.take(), ElementsAre("second"));
}

// Rule: LIF-2
TEST_F(AbortSignalTest, abort_when_a_listener_drops_everything_then_harmless) {
  struct All {
    AbortController controller;
    Subscription subscription;
  };
  auto all = std::make_unique<All>();
  all->subscription = all->controller.signal().on_abort(tracked([&] { all.reset(); }));
  AbortController last_handle = all->controller;
  last_handle.abort();
  EXPECT_EQ(all, nullptr);
}

TEST_F(AbortSignalTest, WPT_PRI_07_task_controller_when_made_then_has_the_given_priority) {
  EXPECT_EQ(TaskController().signal().priority(), TaskPriority::user_visible);
  for (const auto priority :
       {TaskPriority::background, TaskPriority::user_visible, TaskPriority::user_blocking}) {
    EXPECT_EQ(TaskController(priority).signal().priority(), priority);
  }
}

TEST_F(AbortSignalTest, WPT_PRI_08_task_controller_when_the_priority_is_invalid_then_throws) {
  EXPECT_THROW(TaskController(static_cast<TaskPriority>(3)), std::invalid_argument);
  TaskController task_controller(TaskPriority::background);
  EXPECT_THROW(task_controller.set_priority(static_cast<TaskPriority>(4)), std::invalid_argument);
  EXPECT_EQ(task_controller.signal().priority(), TaskPriority::background);
}

}  // namespace
}  // namespace heist
