// Rule: YLD-2. Every signal option x priority option, inside and outside of tasks.
#include <algorithm>
#include <ostream>

#include "yield/yield_fixture.hpp"

namespace heist::support {
namespace {

/// Plain tasks, which have no scheduling state, are outside.
enum class From { outside, fixed_task, signal_task, abort_task };
enum class SignalOption { none, inherit, abort_only, task_signal, abort_of_task };
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

/// The task is user-blocking, be it fixed (perhaps with an AbortSignal) or by its signal; the named
/// TaskSignal is background.
class YieldOptionsTable : public YieldFixture, public testing::WithParamInterface<Case> {
 protected:
  enum Aborter { nobody, task_controller, task_abort, named_abort, named_task };

  /// The rules of the newest seed, as a table.
  static TaskPriority expected_priority(const Case& c) {
    const bool in_task = c.from != From::outside;
    const auto inherited = in_task ? user_blocking : user_visible;
    if (c.priority) {
      if (*c.priority == ContinuationPriority::inherit) return inherited;
      return static_cast<TaskPriority>(*c.priority);
    }
    const bool has_no_priority =
        c.signal == SignalOption::abort_only || c.signal == SignalOption::abort_of_task;
    if (has_no_priority) return user_visible;
    return c.signal == SignalOption::task_signal ? background : inherited;
  }
  static Aborter expected_aborter(const Case& c) {
    if (c.signal == SignalOption::abort_only) return named_abort;
    if (c.signal == SignalOption::task_signal) return named_task;
    if (c.signal == SignalOption::abort_of_task) return task_abort;
    const bool inherits = c.signal == SignalOption::inherit || !c.priority;
    if (inherits && c.from == From::abort_task) return task_abort;
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
      case SignalOption::abort_of_task:
        return {task_abort_controller.signal(), priority};
    }
    return {};
  }

  /// Posts what calls compete().
  void start() {
    const auto begin = [this] { result = compete(options()); };
    switch (GetParam().from) {
      case From::outside:
        loop.queue_task(TaskSource::io, begin);
        break;
      case From::fixed_task:
        scheduler.post(begin, {.priority = user_blocking});
        break;
      case From::signal_task:
        scheduler.post(begin, {.signal = controller.signal()});
        break;
      case From::abort_task:
        scheduler.post(begin,
                       {.signal = task_abort_controller.signal(), .priority = user_blocking});
        break;
    }
  }

  Promise<void> result = Promise<void>::resolved();
  TaskController controller{user_blocking};
  AbortController task_abort_controller;
  AbortController abort_controller;
  TaskController task_signal_controller{background};
};

TEST_P(YieldOptionsTable,
       WPT_SP_07_WPT_SP_14_WPT_Y_P10_continuation_when_given_options_then_above_its_priority) {
  start();
  EXPECT_EQ(run(), order_with(expected_priority(GetParam())));
  EXPECT_EQ(result.status(), PromiseStatus::fulfilled);
}

TEST_P(YieldOptionsTable, WPT_SP_07_abort_when_of_its_abort_source_then_rejects_and_else_not) {
  for (const Aborter aborter : {nobody, task_controller, task_abort, named_abort, named_task}) {
    controller = TaskController(user_blocking);
    task_abort_controller = AbortController();
    abort_controller = AbortController();
    task_signal_controller = TaskController(background);
    start();
    loop.poll();
    if (aborter == task_controller) controller.abort();
    if (aborter == task_abort) task_abort_controller.abort();
    if (aborter == named_abort) abort_controller.abort();
    if (aborter == named_task) task_signal_controller.abort();
    const bool aborted = aborter != nobody && aborter == expected_aborter(GetParam());
    EXPECT_EQ(std::ranges::count(run(), "continuation"), aborted ? 0 : 1);
    EXPECT_EQ(result.status(), aborted ? PromiseStatus::rejected : PromiseStatus::fulfilled)
        << "aborter " << aborter;
    if (aborted) {
      EXPECT_THROW(result.get(), AbortError);
    }
  }
}

TEST_P(YieldOptionsTable, WPT_SP_08_set_priority_when_of_its_priority_source_then_it_moves) {
  start();
  loop.poll();
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
  EXPECT_EQ(run(), order_with(priority));
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const PriorityOption priorities[] = {
      std::nullopt, ContinuationPriority::background, ContinuationPriority::user_visible,
      ContinuationPriority::user_blocking, ContinuationPriority::inherit};
  for (const auto from : {From::outside, From::fixed_task, From::signal_task, From::abort_task}) {
    for (const auto signal : {SignalOption::none, SignalOption::inherit, SignalOption::abort_only,
                              SignalOption::task_signal, SignalOption::abort_of_task}) {
      for (const auto& priority : priorities) cases.push_back({from, signal, priority});
    }
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(All, YieldOptionsTable, testing::ValuesIn(all_cases()));

}  // namespace
}  // namespace heist::support
