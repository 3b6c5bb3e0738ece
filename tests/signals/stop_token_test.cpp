// Rule: ABT-3, ABT-5, LIF-2. std::stop_token both ways.
#include <gmock/gmock.h>

#include <barrier>
#include <heist/heist.hpp>
#include <optional>
#include <stop_token>
#include <thread>

#include "support/virtual_loop_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;

using StopTokens = VirtualLoopFixture;

TEST_F(StopTokens, abort_when_a_token_was_given_then_it_is_stopped_in_order) {
  AbortController controller;
  const auto before = controller.signal().on_abort(note("before"));
  const std::stop_token token = controller.signal().stop_token();
  const auto after = controller.signal().on_abort(note("after"));
  const std::stop_callback callback(token, note("stopped"));
  EXPECT_TRUE(token.stop_possible());
  EXPECT_FALSE(token.stop_requested());
  EXPECT_EQ(token, controller.signal().stop_token());
  controller.abort();
  EXPECT_TRUE(token.stop_requested());
  EXPECT_THAT(trace.take(), ElementsAre("before", "stopped", "after"));
}

TEST_F(StopTokens, token_when_aborted_before_then_stopped_already) {
  EXPECT_TRUE(AbortSignal::abort().stop_token().stop_requested());
}

TEST_F(StopTokens, token_when_the_signal_has_gone_then_no_stop_is_possible) {
  std::optional<AbortController> controller(std::in_place);
  const std::stop_token token = controller->signal().stop_token();
  controller.reset();
  EXPECT_FALSE(token.stop_possible());
}

TEST_F(StopTokens, from_when_stop_is_requested_then_aborts_tasks_and_listeners) {
  std::stop_source source;
  const auto signal = AbortSignal::from(source.get_token());
  const auto subscription = signal.on_abort(note("aborted"));
  auto result = post_task("task", {.signal = signal});
  EXPECT_FALSE(signal.aborted());
  source.request_stop();
  EXPECT_THAT(trace.take(), ElementsAre("aborted"));
  EXPECT_THROW(std::move(result).get(), AbortError);
  EXPECT_TRUE(AbortSignal::from(source.get_token()).aborted());
  EXPECT_FALSE(AbortSignal::from({}).aborted());
}

TEST_F(StopTokens, from_when_the_signal_has_gone_then_a_stop_reaches_nothing) {
  std::stop_source source;
  std::optional<AbortSignal> signal = AbortSignal::from(source.get_token());
  signal.reset();
  source.request_stop();
}

TEST_F(StopTokens, from_when_a_listener_drops_the_last_handle_then_all_is_well) {
  std::stop_source source;
  std::optional<AbortSignal> signal = AbortSignal::from(source.get_token());
  std::optional<Subscription> subscription;
  subscription = signal->on_abort([&] {
    signal.reset();
    subscription.reset();
  });
  source.request_stop();
  EXPECT_FALSE(signal.has_value());
}

TEST_F(StopTokens, from_when_stop_and_end_meet_on_two_threads_then_all_is_well) {
  for (int round = 0; round < 2000; ++round) {
    std::stop_source source;
    std::optional<AbortSignal> signal = AbortSignal::from(source.get_token());
    std::barrier<> meet(2);
    std::jthread stopper([&] {
      meet.arrive_and_wait();
      source.request_stop();
    });
    meet.arrive_and_wait();
    signal.reset();
    stopper.join();
    EXPECT_TRUE(source.stop_requested());
  }
}

TEST_F(StopTokens, token_when_made_and_aborted_on_two_threads_then_stopped) {
  for (int round = 0; round < 2000; ++round) {
    AbortController controller;
    std::barrier<> meet(2);
    std::jthread aborter([&] {
      meet.arrive_and_wait();
      controller.abort();
    });
    meet.arrive_and_wait();
    const std::stop_token token = controller.signal().stop_token();
    aborter.join();
    EXPECT_TRUE(token.stop_requested());
  }
}

}  // namespace
}  // namespace heist::support
