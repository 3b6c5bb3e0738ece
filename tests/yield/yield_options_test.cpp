// Rule: YLD-2; WPT: SP-07, SP-08, Y-P10. Every signal option x priority option, inside and outside
//         of tasks.
#include <gmock/gmock.h>

#include <heist/heist.hpp>
#include <ostream>

#include "support/virtual_loop_fixture.hpp"

namespace heist::support {
namespace {

enum class From { outside, fixed_task, signal_task };
enum class SignalOption { none, inherit, abort_only, task_signal };
using PriorityOption = std::optional<ContinuationPriority>;

struct Case {
  From from;
  SignalOption signal;
  PriorityOption priority;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << "from " << static_cast<int>(c.from) << ", signal " << static_cast<int>(c.signal)
             << ", priority " << (c.priority ? static_cast<int>(*c.priority) : -1);
}

/// The task is user-blocking, be it fixed or by its signal; the named TaskSignal is background.
class YieldOptionsTable : public VirtualLoopFixture, public testing::WithParamInterface<Case> {
 protected:
  enum Aborter { nobody, task_controller, named_abort, named_task };

  /// The rules of the newest seed, as a table.
  static TaskPriority expected_priority(const Case& c) {
    const bool in_task = c.from != From::outside;
    const auto inherited = in_task ? user_blocking : user_visible;
    if (c.priority) {
      if (*c.priority == ContinuationPriority::inherit) return inherited;
      return static_cast<TaskPriority>(*c.priority);
    }
    if (c.signal == SignalOption::abort_only) return user_visible;
    return c.signal == SignalOption::task_signal ? background : inherited;
  }
  static Aborter expected_aborter(const Case& c) {
    if (c.signal == SignalOption::abort_only) return named_abort;
    if (c.signal == SignalOption::task_signal) return named_task;
    const bool inherits = c.signal == SignalOption::inherit || !c.priority;
    return inherits && c.from == From::signal_task ? task_controller : nobody;
  }

  [[nodiscard]] YieldOptions options() const {
    const auto [from, signal, priority] = GetParam();
    switch (signal) {
      case SignalOption::none:
        return priority ? YieldOptions(*priority) : YieldOptions();
      case SignalOption::inherit:
        return {heist::inherit, priority};
      case SignalOption::abort_only:
        return {abort_controller.signal(), priority};
      case SignalOption::task_signal:
        return {task_signal_controller.signal(), priority};
    }
    return {};
  }

  Promise<void> coroutine() {
    const YieldOptions chosen = options();
    co_await heist::yield(chosen);
    trace.add("continuation");
  }
  /// The coroutine, run up to its yield.
  Promise<void> start() {
    auto result = Promise<void>::resolved();
    const auto begin = [this, &result] {
      result = coroutine();
      post("visible");
      post("background", {.priority = background});
      post("blocking", {.priority = user_blocking});
    };
    switch (GetParam().from) {
      case From::outside:
        static_cast<void>(set_timeout_in_loop(begin));
        break;
      case From::fixed_task:
        scheduler.post(begin, {.priority = user_blocking});
        break;
      case From::signal_task:
        scheduler.post(begin, {.signal = controller.signal()});
        break;
    }
    loop.poll();
    return result;
  }
  /// A plain task: no scheduling state.
  bool set_timeout_in_loop(const std::function<void()>& begin) {
    return scheduler.post([begin] { static_cast<void>(set_timeout(begin)); }) && loop.poll() == 1;
  }

  TaskController controller{user_blocking};
  AbortController abort_controller;
  TaskController task_signal_controller{background};
};

TEST_P(YieldOptionsTable, continuation_stands_just_above_the_tasks_of_its_priority) {
  auto result = start();
  std::vector<std::string> expected{"blocking", "visible", "background"};
  const auto place = 2 - static_cast<int>(expected_priority(GetParam()));
  expected.insert(expected.begin() + place, "continuation");
  EXPECT_EQ(run(), expected);
  EXPECT_EQ(result.status(), PromiseStatus::fulfilled);
}

TEST_P(YieldOptionsTable, only_its_abort_source_rejects_the_continuation) {
  for (const Aborter aborter : {nobody, task_controller, named_abort, named_task}) {
    controller = TaskController(user_blocking);
    abort_controller = AbortController();
    task_signal_controller = TaskController(background);
    auto result = start();
    if (aborter == task_controller) controller.abort();
    if (aborter == named_abort) abort_controller.abort();
    if (aborter == named_task) task_signal_controller.abort();
    static_cast<void>(run());
    const bool aborted = aborter != nobody && aborter == expected_aborter(GetParam());
    EXPECT_EQ(result.status(), aborted ? PromiseStatus::rejected : PromiseStatus::fulfilled)
        << "aborter " << aborter;
    if (aborted) {
      EXPECT_THROW(std::move(result).get(), AbortError);
    }
  }
}

TEST_P(YieldOptionsTable, only_a_living_priority_source_moves_the_continuation) {
  auto result = start();
  const Case& c = GetParam();
  const bool inherits = c.priority
                            ? *c.priority == ContinuationPriority::inherit
                            : c.signal == SignalOption::none || c.signal == SignalOption::inherit;
  const bool follows_task = c.from == From::signal_task && inherits;
  const bool follows_named = !c.priority && c.signal == SignalOption::task_signal;
  controller.set_priority(background);
  task_signal_controller.set_priority(user_blocking);
  auto priority = expected_priority(c);
  if (follows_task) priority = background;
  if (follows_named) priority = user_blocking;
  std::vector<std::string> expected{"blocking", "visible", "background"};
  expected.insert(expected.begin() + (2 - static_cast<int>(priority)), "continuation");
  EXPECT_EQ(run(), expected);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const PriorityOption priorities[] = {
      std::nullopt, ContinuationPriority::background, ContinuationPriority::user_visible,
      ContinuationPriority::user_blocking, ContinuationPriority::inherit};
  for (const auto from : {From::outside, From::fixed_task, From::signal_task}) {
    for (const auto signal : {SignalOption::none, SignalOption::inherit, SignalOption::abort_only,
                              SignalOption::task_signal}) {
      for (const auto& priority : priorities) cases.push_back({from, signal, priority});
    }
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(All, YieldOptionsTable, testing::ValuesIn(all_cases()));

}  // namespace
}  // namespace heist::support
