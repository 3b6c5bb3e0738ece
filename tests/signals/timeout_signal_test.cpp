// Rule: DLY-2, LIF-2; FORMAT.md 3.3. AbortSignal::timeout.
#include <gmock/gmock.h>

#include <heist/heist.hpp>
#include <optional>

#include "support/threads.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using TimeoutSignals = VirtualLoopFixture;

TEST_F(TimeoutSignals, timeout_when_over_then_aborts_with_timeout_error) {
  const auto signal = AbortSignal::timeout(scheduler, 5ms);
  auto result = post_task("late", {.signal = signal, .delay = 1h});
  loop.advance(4ms);
  EXPECT_FALSE(signal.aborted());
  loop.advance(1ms);
  EXPECT_THROW(signal.throw_if_aborted(), TimeoutError);
  EXPECT_THROW(std::move(result).get(), TimeoutError);
  EXPECT_EQ(loop.stats().source_tasks_run[static_cast<std::size_t>(TaskSource::timer)], 1U);
}

TEST_F(TimeoutSignals, timeout_when_listeners_queue_microtasks_then_a_checkpoint_follows_each) {
  const auto signal = AbortSignal::timeout(scheduler, 5ms);
  const auto dependent = AbortSignal::any({signal});
  const auto listen = [this](const AbortSignal& to, std::string label) {
    return to.on_abort([this, label] {
      trace.add(label);
      queue_microtask([this, label] { trace.add("microtask of " + label); });
    });
  };
  const auto first = listen(signal, "first");
  const auto second = listen(signal, "second");
  const auto third = listen(dependent, "third");
  loop.advance(5ms);
  EXPECT_THAT(trace.take(), ElementsAre("first", "microtask of first", "second",
                                        "microtask of second", "third", "microtask of third"));
}

TEST_F(TimeoutSignals, timeout_when_nobody_observes_it_then_its_timer_goes) {
  std::optional<AbortSignal> signal = AbortSignal::timeout(scheduler, 1h);
  EXPECT_EQ(loop.pending(), 1U);
  std::optional<AbortSignal> dependent = AbortSignal::any({*signal});
  signal.reset();
  EXPECT_EQ(loop.pending(), 1U);
  dependent.reset();
  EXPECT_EQ(loop.pending(), 0U);
  in_task([&] {
    signal = AbortSignal::timeout(1h);
    signal.reset();
  });
  EXPECT_EQ(loop.pending(), 0U);
}

TEST_F(TimeoutSignals, timeout_when_a_listener_drops_the_last_handle_then_all_is_well) {
  std::optional<AbortSignal> signal = AbortSignal::timeout(scheduler, 1ms);
  auto subscription = signal->on_abort([&] { trace.add("aborted"); });
  const auto dropping = signal->on_abort([&] {
    signal.reset();
    subscription.reset();
  });
  loop.advance(1ms);
  EXPECT_THAT(trace.take(), ElementsAre("aborted"));
}

TEST_F(TimeoutSignals, timeout_when_loop_is_closed_then_never_aborts) {
  std::optional<EventLoop> other(EventLoopOptions{.clock = LoopClock::virtual_time});
  const auto armed = AbortSignal::timeout(other->scheduler(), 1ms);
  const Scheduler closed = other->scheduler();
  other.reset();
  const auto refused = AbortSignal::timeout(closed, 0ms);
  EXPECT_FALSE(armed.aborted());
  EXPECT_FALSE(refused.aborted());
}

TEST_F(TimeoutSignals, timeout_off_a_loop_then_refused) {
  EXPECT_THROW(static_cast<void>(AbortSignal::timeout(1ms)), NotAllowedError);
}

TEST_F(TimeoutSignals, abort_when_static_then_born_aborted) {
  EXPECT_THROW(AbortSignal::abort().throw_if_aborted(), AbortError);
  const auto aborted = AbortSignal::abort(7);
  EXPECT_EQ(*aborted.reason().value<int>(), 7);
  EXPECT_FALSE(aborted.on_abort([] {}).active());
  EXPECT_THAT(run(), IsEmpty());
}

TEST_F(TimeoutSignals, queue_task_then_beside_user_visible_by_age_and_without_state) {
  post("background", {.priority = background});
  loop.queue_task(TaskSource::io,
                  [this] { trace.add(Scheduler::current() ? "io with a scheduler" : "io"); });
  post("visible");
  loop.queue_task(TaskSource::message, note("message"));
  post("blocking", {.priority = user_blocking});
  EXPECT_THAT(run(), ElementsAre("blocking", "io", "visible", "message", "background"));
  EXPECT_THROW(loop.queue_task(static_cast<TaskSource>(9), [] {}), std::invalid_argument);
}

}  // namespace
}  // namespace heist::support
