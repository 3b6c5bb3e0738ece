// Abort of tasks that have not started: none starts, all are rejected.
#include <array>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "support/posted_from.hpp"
#include "support/threads.hpp"

namespace heist {
namespace {

using namespace support;  // NOLINT(google-build-using-namespace): the whole of it is for tests
using testing::ElementsAre;

class Abt1 : public VirtualLoopFixture {
 protected:
  TaskController controller;
};

// Rule: ABT-1
TEST_F(Abt1, WPT_ABT_12_abort_when_the_task_has_run_then_its_value_stays) {
  const auto promise = scheduler.post_task([] { return 1; }, {.signal = controller.signal()});
  loop.run_until_idle();
  controller.abort();
  loop.run_until_idle();
  EXPECT_EQ(promise.get(), 1);
}

// Rule: ABT-1
TEST_F(Abt1, WPT_ABT_12_abort_when_the_task_has_thrown_then_its_exception_stays) {
  const auto promise =
      scheduler.post_task([] { throw std::range_error("own"); }, {.signal = controller.signal()});
  loop.run_until_idle();
  controller.abort();
  EXPECT_THROW(promise.get(), std::range_error);
}

// Rule: ABT-1
TEST_F(Abt1, abort_when_aborted_already_then_the_first_reason_stays) {
  const auto promise = post_task("task", {.signal = controller.signal()});
  controller.abort(1);
  controller.abort(2);
  EXPECT_THAT(run(), ElementsAre());
  EXPECT_EQ(*promise.reason().value<int>(), 1);
}

// Rule: ABT-1
TEST_F(Abt1, abort_when_reactions_are_registered_then_each_runs_once) {
  const auto promise = post_task("task", {.signal = controller.signal()});
  const auto count = [&](const char* label) {
    return promise.then(
        scheduler, [&] { trace.add("fulfilled"); },
        [this, label](const Reason&) { trace.add(label); });
  };
  const auto first = count("first");
  const auto second = count("second");
  controller.abort();
  controller.abort();
  EXPECT_THAT(run(), ElementsAre("first", "second"));
}

// Rule: ABT-1
TEST_F(Abt1, WPT_ABT_12_abort_when_the_promise_was_dropped_then_harmless) {
  static_cast<void>(post_task("dropped", {.signal = controller.signal()}));
  static_cast<void>(post_task("dropped, delayed", {.signal = controller.signal(), .delay = 1ms}));
  controller.abort();
  EXPECT_THAT(run(), ElementsAre());
}

/// Where an unstarted task waits.
enum class Place : std::uint8_t { inbox, static_queue, dynamic_queue, wheel, wheel_for_ever };

std::string name_of(Place place) {
  constexpr std::array names{"inbox", "static_queue", "dynamic_queue", "wheel", "wheel_for_ever"};
  return names[static_cast<std::size_t>(place)];
}

/// Parameters: from where abort is called, and where the task waits.
class Abt2 : public VirtualLoopFixture,
             public testing::WithParamInterface<std::tuple<Origin, Place>> {
 protected:
  [[nodiscard]] static Origin origin() { return std::get<0>(GetParam()); }
  [[nodiscard]] static Place place() { return std::get<1>(GetParam()); }

  [[nodiscard]] PostTaskOptions options() const {
    PostTaskOptions result{.signal = controller.signal()};
    if (place() == Place::static_queue) result.priority = user_visible;
    if (place() == Place::wheel) result.delay = 1h;
    if (place() == Place::wheel_for_ever) result.delay = Delay::never();
    return result;
  }
  void put_in_place() {
    if (place() != Place::inbox) arrive();
  }

  TaskController controller;
};
std::string place_name(const testing::TestParamInfo<Abt2::ParamType>& info) {
  return "from_" + to_string(std::get<0>(info.param)) + "_in_" + name_of(std::get<1>(info.param));
}
INSTANTIATE_TEST_SUITE_P(Everywhere, Abt2,
                         testing::Combine(every_origin,
                                          testing::Values(Place::inbox, Place::static_queue,
                                                          Place::dynamic_queue, Place::wheel,
                                                          Place::wheel_for_ever)),
                         place_name);

// Rule: ABT-2
TEST_P(
    Abt2,
    WPT_ABT_03_WPT_ABT_09_WPT_DLY_06_abort_when_it_returns_then_the_promise_is_rejected_and_the_task_never_starts) {
  const Reason reason(std::string("enough"));
  const auto promise = post_task("aborted", options());
  put_in_place();
  bool settled_at_return = false;
  from(origin(), [&] {
    controller.abort(reason);
    settled_at_return = promise.settled();
  });
  EXPECT_TRUE(settled_at_return);
  EXPECT_EQ(promise.status(), PromiseStatus::rejected);
  EXPECT_EQ(promise.reason(), reason);
  loop.advance(2h);
  EXPECT_THAT(trace.take(), ElementsAre());
}

// Rule: ABT-2
TEST_P(Abt2, abort_when_the_task_was_posted_without_a_promise_then_it_never_starts) {
  EXPECT_TRUE(post("aborted", options()));
  put_in_place();
  from(origin(), [&] { controller.abort(); });
  loop.advance(2h);
  EXPECT_THAT(trace.take(), ElementsAre());
}

// Rule: ABT-2
TEST_P(
    Abt2,
    WPT_ABT_13_abort_when_many_tasks_wait_then_exactly_the_signals_go_and_the_rest_keeps_its_order) {
  std::vector<Promise<void>> aborted;
  for (const auto* label : {"1", "2", "3"}) {
    post(label);
    aborted.push_back(post_task("aborted", options()));
    aborted.push_back(post_task("aborted too", options()));
  }
  post("4");
  put_in_place();
  from(origin(), [&] { controller.abort(); });
  for (const auto& promise : aborted) EXPECT_THROW(promise.get(), AbortError);
  EXPECT_THAT(run(), ElementsAre("1", "2", "3", "4"));
}

class Abt2At : public VirtualLoopFixture {};

// Rule: ABT-2
TEST_F(
    Abt2At,
    WPT_ABT_01_WPT_SP_12_post_task_when_the_task_signal_is_aborted_then_rejects_and_enqueues_nothing) {
  TaskController controller;
  const Reason reason(std::range_error("gone"));
  controller.abort(reason);
  const auto promise = post_task("never", {.signal = controller.signal()});
  EXPECT_EQ(promise.reason(), reason);
  EXPECT_EQ(callbacks.alive(), 0);
  EXPECT_EQ(loop.pending(), 0U);
  EXPECT_THROW(promise.get(), std::range_error);
}

// Rule: ABT-2
TEST_F(Abt2At,
       WPT_ABT_02_post_task_when_the_abort_signal_is_aborted_then_rejects_and_enqueues_nothing) {
  AbortController controller;
  controller.abort(5);
  const auto promise =
      post_task("never", {.signal = controller.signal(), .priority = background, .delay = 1ms});
  EXPECT_EQ(promise.reason(), controller.signal().reason());
  EXPECT_EQ(callbacks.alive(), 0);
  EXPECT_EQ(loop.pending(), 0U);
}

// Rule: ABT-2
TEST_F(Abt2At, post_when_the_signal_is_aborted_then_returns_false_and_drops_the_callback) {
  AbortController controller;
  controller.abort();
  EXPECT_FALSE(post("never", {.signal = controller.signal()}));
  EXPECT_EQ(callbacks.alive(), 0);
  EXPECT_EQ(loop.pending(), 0U);
}

// Rule: ABT-2
TEST_F(Abt2At, WPT_ABT_04_WPT_ABT_05_abort_when_without_a_reason_then_rejects_with_abort_error) {
  AbortController controller;
  const auto promise = post_task("never", {.signal = controller.signal()});
  controller.abort();
  EXPECT_THROW(promise.get(), AbortError);
  EXPECT_EQ(promise.reason(), controller.signal().reason());
}

// Rule: ABT-2
TEST_F(Abt2At, WPT_ABT_10_abort_when_one_of_five_controllers_then_only_its_task_goes) {
  std::array<TaskController, 5> controllers;
  std::vector<Promise<void>> promises;
  for (std::size_t i = 0; i < controllers.size(); ++i) {
    promises.push_back(post_task(std::to_string(i), {.signal = controllers[i].signal()}));
  }
  controllers[2].abort();
  EXPECT_THAT(run(), ElementsAre("0", "1", "3", "4"));
  for (std::size_t i = 0; i < promises.size(); ++i) {
    EXPECT_EQ(promises[i].status(), i == 2 ? PromiseStatus::rejected : PromiseStatus::fulfilled);
  }
}

// Rule: ABT-2, PRI-2
TEST_F(Abt2At, WPT_ABT_11_abort_when_the_priority_is_explicit_then_it_is_honoured_all_the_same) {
  TaskController with_priority;
  AbortController without;
  const auto first = post_task("1", {.signal = with_priority.signal(), .priority = user_blocking});
  const auto second = post_task("2", {.signal = without.signal(), .priority = user_blocking});
  with_priority.abort();
  without.abort();
  EXPECT_THAT(run(), ElementsAre());
  EXPECT_THROW(first.get(), AbortError);
  EXPECT_THROW(second.get(), AbortError);
}

// Rule: ABT-2
TEST_F(Abt2At, abort_when_the_signal_has_tasks_on_several_loops_then_none_starts_anywhere) {
  AbortController controller;
  std::vector<std::unique_ptr<EventLoop>> loops;
  std::vector<Promise<void>> promises;
  for (int i = 0; i < 4; ++i) {
    loops.push_back(
        std::make_unique<EventLoop>(EventLoopOptions{.clock = LoopClock::virtual_time}));
    for (const auto delay : {0ms, 1ms}) {
      promises.push_back(loops.back()->scheduler().post_task(
          note("never"), {.signal = controller.signal(), .delay = delay}));
    }
    if (i % 2 == 0) static_cast<void>(loops.back()->pending());
  }
  controller.abort();
  for (const auto& promise : promises) EXPECT_TRUE(promise.settled());
  for (auto& each : loops) each->advance(1h);
  EXPECT_THAT(trace.take(), ElementsAre());
}

// Rule: ABT-2
TEST_F(Abt2At, post_when_a_listener_of_the_abort_posts_then_it_is_refused_with_the_reason) {
  AbortController controller;
  std::optional<Promise<void>> late;
  const auto subscription = controller.signal().on_abort(
      [&] { late = post_task("late", {.signal = controller.signal()}); });
  controller.abort(7);
  EXPECT_THAT(run(), ElementsAre());
  EXPECT_EQ(late->reason(), controller.signal().reason());
}

// Rule: ABT-2
TEST_F(Abt2At, abort_when_a_listener_runs_the_loop_then_no_task_of_the_signal_starts) {
  AbortController controller;
  post("aborted", {.signal = controller.signal()});
  post("other");
  std::vector<std::string> seen;
  const auto subscription = controller.signal().on_abort([&] {
    controller.abort();  // re-entrant: returns at once
    seen = run();
  });
  controller.abort();
  EXPECT_THAT(seen, ElementsAre("other"));
}

// Rule: ABT-2
TEST_F(Abt2At, abort_when_a_task_aborts_the_ones_behind_it_then_they_never_start) {
  AbortController controller;
  scheduler.post(tracked([&] { controller.abort(); }));
  post("behind 1", {.signal = controller.signal()});
  post("other");
  post("behind 2", {.signal = controller.signal(), .priority = user_visible});
  EXPECT_THAT(run(), ElementsAre("other"));
}

class Abt3 : public VirtualLoopFixture {
 protected:
  AbortController controller;
};

// Rule: ABT-3
TEST_F(Abt3,
       WPT_SP_04_abort_when_listeners_run_then_the_reason_is_visible_and_every_task_rejected) {
  const auto early = post_task("never", {.signal = controller.signal()});
  std::vector<bool> seen;
  const auto subscription = controller.signal().on_abort([&] {
    seen = {controller.signal().aborted(), early.settled()};
    EXPECT_EQ(early.reason(), controller.signal().reason());
  });
  const auto late = post_task("never", {.signal = controller.signal(), .delay = 1h});
  const auto second = controller.signal().on_abort([&] { seen.push_back(late.settled()); });
  controller.abort();
  EXPECT_THAT(seen, ElementsAre(true, true, true));
}

// Rule: ABT-3
TEST_F(Abt3,
       WPT_SP_05_abort_when_several_tasks_wait_then_they_are_rejected_in_order_of_registration) {
  std::vector<Promise<void>> reactions;
  const auto add = [&](std::string label, const PostTaskOptions& options) {
    const auto promise = post_task("never", options);
    reactions.push_back(
        promise.then(scheduler, [] {}, [this, label](const Reason&) { trace.add(label); }));
  };
  const AbortSignal signal = controller.signal();
  add("1 delayed", {.signal = signal, .delay = 1h});
  add("2 low", {.signal = signal, .priority = background});
  add("3 high", {.signal = signal, .priority = user_blocking});
  arrive();
  add("4 on its way", {.signal = signal});
  controller.abort();
  EXPECT_THAT(run(), ElementsAre("1 delayed", "2 low", "3 high", "4 on its way"));
}

}  // namespace
}  // namespace heist
