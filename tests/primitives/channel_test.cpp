// Rules: CHN-1 to CHN-6, of channels on one loop.
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/live_count.hpp"
#include "support/pool_memory.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

class Channels : public VirtualLoopFixture {
 protected:
  static constexpr std::size_t capacity = 2;

  /// Posts a coroutine that sends the value, and notes what came of it.
  Promise<void> send_in_task(std::string value, const PostTaskOptions& options = {},
                             std::optional<AbortSignal> signal = {}) {
    return scheduler.post_task(
        [this, value, signal]() -> Promise<void> { return send_and_note(value, signal); }, options);
  }
  Promise<void> send_and_note(std::string value, std::optional<AbortSignal> signal) {
    try {
      const bool is_sent = co_await channel->send(std::move(value), signal);
      trace.add(is_sent ? "sent" : "refused " + value);
    } catch (...) {
      trace.add(value + ": " + Reason::of_current_exception().what());
    }
  }
  /// Posts a coroutine that receives a value, and notes its label with it.
  Promise<void> receive_in_task(std::string label, const PostTaskOptions& options = {},
                                std::optional<AbortSignal> signal = {}) {
    return scheduler.post_task(
        [this, label, signal]() -> Promise<void> { return receive_and_note(label, signal); },
        options);
  }
  Promise<void> receive_and_note(std::string label, std::optional<AbortSignal> signal) {
    try {
      const auto value = co_await channel->receive(signal);
      trace.add(label + " " + value.value_or("end"));
    } catch (...) {
      trace.add(label + ": " + Reason::of_current_exception().what());
    }
  }
  void fill() {
    while (channel->try_send("filling")) {
    }
  }
  std::vector<std::string> drain() {
    std::vector<std::string> values;
    while (auto value = channel->try_receive()) values.push_back(*std::move(value));
    return values;
  }

  std::optional<Channel<std::string>> channel{std::in_place, capacity};
};

// Rule: CHN-1
TEST_F(Channels, receive_when_values_were_sent_then_in_their_order) {
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(channel->try_send("first"));
    EXPECT_TRUE(channel->try_send("second"));
    EXPECT_THAT(drain(), ElementsAre("first", "second"));
  }
}

// Rule: CHN-1
TEST_F(Channels, try_send_when_there_is_no_room_then_the_caller_keeps_the_value) {
  fill();
  std::string value = "kept";
  EXPECT_FALSE(channel->try_send(std::move(value)));
  EXPECT_EQ(value, "kept");  // NOLINT(bugprone-use-after-move): it was not sent.
}

// Rule: CHN-1
TEST_F(Channels, capacity_when_it_is_no_power_of_two_then_exact) {
  for (const std::size_t size : {1U, 3U, 5U, 1000U}) {
    const Channel<std::size_t> sized(size);
    for (std::size_t i = 0; i < size; ++i) EXPECT_TRUE(sized.try_send(i));
    EXPECT_FALSE(sized.try_send(size));
    for (std::size_t i = 0; i < size; ++i) EXPECT_THAT(sized.try_receive(), Optional(i));
    EXPECT_FALSE(sized.try_receive());
  }
}

// Rule: CHN-1
TEST_F(Channels, values_when_more_than_all_turns_then_in_their_order) {
  const Channel<int> numbers(3);
  for (int i = 0; i < (1 << 21); i += 2) {
    ASSERT_TRUE(numbers.try_send(i));
    ASSERT_TRUE(numbers.try_send(i + 1));
    ASSERT_EQ(numbers.try_receive(), i);
    ASSERT_EQ(numbers.try_receive(), i + 1);
  }
}

// Rule: CHN-1
TEST_F(Channels, channel_when_its_capacity_is_out_of_bounds_then_it_throws) {
  EXPECT_THROW(Channel<int>(0), std::invalid_argument);
  EXPECT_THROW(Channel<int>((std::size_t{1} << 19) + 1), std::invalid_argument);
  EXPECT_TRUE(Channel<int>(std::size_t{1} << 19).try_send(1));
}

// Rule: CHN-2
TEST_F(Channels, send_and_receive_when_they_need_not_wait_then_not_suspended) {
  in_task([&] {
    const auto pass = [&]() -> Promise<void> {
      EXPECT_TRUE(co_await channel->send("value"));
      EXPECT_THAT(co_await channel->receive(), Optional(std::string("value")));
      trace.add("passed");
    };
    EXPECT_TRUE(pass().settled());
  });
  EXPECT_THAT(trace.take(), ElementsAre("passed"));
}

// Rule: CHN-2
TEST_F(Channels, receive_when_there_is_no_value_then_it_waits_for_one) {
  const auto receiving = receive_in_task("received");
  EXPECT_THAT(run(), IsEmpty());
  EXPECT_TRUE(channel->try_send("value"));
  EXPECT_THAT(trace.take(), IsEmpty());
  EXPECT_FALSE(channel->try_receive()) << "it is there for who has waited";
  EXPECT_THAT(run(), ElementsAre("received value"));
}

// Rule: CHN-2
TEST_F(Channels, send_when_there_is_no_room_then_it_waits_for_it) {
  fill();
  const auto sending = send_in_task("value");
  EXPECT_THAT(run(), IsEmpty());
  EXPECT_THAT(channel->try_receive(), Optional(std::string("filling")));
  EXPECT_FALSE(channel->try_send("other")) << "there is room for who has waited";
  EXPECT_THAT(run(), ElementsAre("sent"));
  EXPECT_THAT(drain(), ElementsAre("filling", "value"));
}

// Rule: CHN-2
TEST_F(Channels, values_that_cannot_be_copied_when_they_are_sent_then_moved) {
  const Channel<std::unique_ptr<int>> pointers(1);
  const auto pass = [&]() -> Promise<int> {
    EXPECT_TRUE(co_await pointers.send(std::make_unique<int>(1)));
    auto second = std::make_unique<int>(2);
    const auto sending = [&]() -> Promise<bool> {
      co_return co_await pointers.send(std::move(second));
    }();
    const auto first = co_await pointers.receive();
    EXPECT_TRUE(co_await sending);
    co_return **first * 10 + *(co_await pointers.receive()).value();
  };
  const auto passed = scheduler.post_task(pass);
  loop.run_until_idle();
  EXPECT_EQ(passed.get(), 12);
}

// Rule: CHN-2
TEST_F(Channels, send_when_the_value_has_a_name_then_a_copy_is_sent) {
  const std::string value = "copied";
  const auto sending = scheduler.post_task([&]() -> Promise<bool> {
    fill();
    co_return co_await channel->send(value);
  });
  loop.run_until_idle();
  EXPECT_TRUE(channel->try_receive());
  loop.run_until_idle();
  EXPECT_THAT(drain(), ElementsAre("filling", "copied"));
  EXPECT_EQ(value, "copied");
}

// Rule: CHN-3
TEST_F(Channels, try_send_when_several_wait_for_values_then_by_priority_then_age) {
  std::vector<Promise<void>> waiting;
  const auto begin_wait = [&](std::string label, TaskPriority priority) {
    waiting.push_back(receive_in_task(std::move(label), {.priority = priority}));
    EXPECT_THAT(run(), IsEmpty());  // so that they wait in this order
  };
  begin_wait("low", TaskPriority::background);
  begin_wait("first", TaskPriority::user_visible);
  begin_wait("second", TaskPriority::user_visible);
  begin_wait("high", TaskPriority::user_blocking);
  std::vector<std::string> served;
  for (const auto* value : {"a", "b", "c", "d"}) {
    EXPECT_TRUE(channel->try_send(value));
    for (auto& label : run()) served.push_back(std::move(label));
  }
  EXPECT_THAT(served, ElementsAre("high a", "first b", "second c", "low d"));
}

// Rule: CHN-3
TEST_F(Channels, try_receive_when_the_priority_of_a_sender_has_changed_then_by_the_new_one) {
  TaskController changed(TaskPriority::background);
  fill();
  const auto one = send_in_task("visible");
  const auto other = send_in_task("raised", {.signal = changed.signal()});
  EXPECT_THAT(run(), IsEmpty());
  changed.set_priority(TaskPriority::user_blocking);
  EXPECT_TRUE(channel->try_receive());
  EXPECT_THAT(run(), ElementsAre("sent"));
  EXPECT_TRUE(channel->try_receive());
  EXPECT_THAT(run(), ElementsAre("sent"));
  EXPECT_THAT(drain(), ElementsAre("raised", "visible"));
}

// Rule: CHN-4
TEST_F(Channels, receive_when_a_signal_aborts_then_it_throws_and_leaves_nothing) {
  AbortController own;
  AbortController given;
  const auto first = scheduler.post_task([this] { return receive_and_note("first", {}); },
                                         {.signal = own.signal()});
  const auto second = receive_in_task("second", {}, given.signal());
  EXPECT_THAT(run(), IsEmpty());
  own.abort(std::runtime_error("enough"));
  given.abort(std::runtime_error("enough"));
  static_cast<void>(first.reason());
  EXPECT_THAT(run(), ElementsAre("first: enough", "second: enough"));
  EXPECT_TRUE(channel->try_send("value"));
  EXPECT_THAT(drain(), ElementsAre("value"));
}

// Rule: CHN-4
TEST_F(Channels, send_when_a_signal_aborts_then_the_caller_keeps_the_value) {
  AbortController controller;
  fill();
  const auto sending = send_in_task("value", {}, controller.signal());
  EXPECT_THAT(run(), IsEmpty());
  controller.abort(std::runtime_error("enough"));
  EXPECT_THAT(run(), ElementsAre("value: enough"));
  EXPECT_THAT(drain(), ElementsAre("filling", "filling"));
  fill();
  EXPECT_THAT(drain(), ElementsAre("filling", "filling")) << "all room is there";
}

// Rule: CHN-4
TEST_F(Channels, try_send_when_the_receiver_is_aborted_afterwards_then_it_has_the_value) {
  AbortController controller;
  const auto receiving = receive_in_task("received", {}, controller.signal());
  EXPECT_THAT(run(), IsEmpty());
  EXPECT_TRUE(channel->try_send("value"));
  controller.abort();
  EXPECT_THAT(run(), ElementsAre("received value"));
}

// Rule: CHN-4
TEST_F(Channels, try_send_when_the_loop_of_a_receiver_is_closed_then_the_next_one_has_the_value) {
  std::optional<EventLoop> other(std::in_place, EventLoopOptions{.clock = LoopClock::virtual_time});
  const auto lost = other->scheduler().post_task([&] { return receive_and_note("lost", {}); });
  other->run_until_idle();
  const auto next = receive_in_task("next");
  EXPECT_THAT(run(), IsEmpty());
  other.reset();
  EXPECT_TRUE(channel->try_send("first"));
  EXPECT_TRUE(channel->try_send("second"));
  EXPECT_THAT(run(), ElementsAre("next first"));
  EXPECT_THAT(drain(), ElementsAre("second"));
}

// Rule: CHN-4
TEST_F(Channels, try_receive_when_the_loop_of_a_sender_is_closed_then_the_next_one_has_room) {
  fill();
  std::optional<EventLoop> other(std::in_place, EventLoopOptions{.clock = LoopClock::virtual_time});
  const auto lost = other->scheduler().post_task([&] { return send_and_note("lost", {}); });
  other->run_until_idle();
  const auto next = send_in_task("next");
  EXPECT_THAT(run(), IsEmpty());
  other.reset();
  EXPECT_TRUE(channel->try_receive());
  EXPECT_THAT(run(), ElementsAre("sent"));
  EXPECT_THAT(drain(), ElementsAre("filling", "next"));
}

// Rule: CHN-4
TEST_F(Channels,
       try_send_when_many_receivers_are_of_a_closed_loop_then_they_end_without_recursion) {
  {
    EventLoop other({.clock = LoopClock::virtual_time});
    other.scheduler().post([&] {
      for (int i = 0; i < 100'000; ++i) static_cast<void>(receive_and_note("lost", {}));
    });
    other.run_until_idle();
  }
  EXPECT_TRUE(channel->try_send("value"));
  EXPECT_THAT(drain(), ElementsAre("value"));
}

// Rule: CHN-4
TEST_F(Channels, receive_when_many_waits_are_aborted_then_memory_is_flat) {
  const auto abort_waits = [&](int times) {
    for (int i = 0; i < times; ++i) {
      AbortController controller;
      const auto waiting = receive_in_task("", {}, controller.signal());
      loop.run_until_idle();
      controller.abort();
      loop.run_until_idle();
      static_cast<void>(trace.take());
    }
  };
  abort_waits(100);
  const auto before = held_by_pool();
  abort_waits(10'000);
  EXPECT_LE(held_by_pool() - before, flat);
}

// Rule: CHN-5
TEST_F(Channels, close_when_values_are_left_then_they_are_received_and_then_the_end) {
  EXPECT_TRUE(channel->try_send("left"));
  channel->close();
  channel->close();
  EXPECT_TRUE(channel->is_closed());
  EXPECT_FALSE(channel->is_ended());
  const auto first = receive_in_task("first");
  const auto second = receive_in_task("second");
  EXPECT_THAT(run(), ElementsAre("first left", "second end"));
  EXPECT_TRUE(channel->is_ended());
  EXPECT_FALSE(channel->try_receive());
}

// Rule: CHN-5
TEST_F(Channels, close_when_receivers_wait_then_they_go_on_with_the_end) {
  const auto first = receive_in_task("first");
  const auto second = receive_in_task("second");
  EXPECT_THAT(run(), IsEmpty());
  channel->close();
  EXPECT_THAT(trace.take(), IsEmpty());
  EXPECT_THAT(run(), ElementsAre("first end", "second end"));
}

// Rule: CHN-5
TEST_F(Channels, close_when_the_last_value_is_granted_then_others_wait_until_it_is_received) {
  const auto heir = receive_in_task("heir");
  const auto last = receive_in_task("last", {.priority = TaskPriority::user_blocking});
  EXPECT_THAT(run(), IsEmpty());
  EXPECT_TRUE(channel->try_send("value"));
  channel->close();
  EXPECT_FALSE(channel->is_ended());
  EXPECT_THAT(run(), ElementsAre("last value", "heir end"));
  EXPECT_TRUE(channel->is_ended());
}

// Rule: CHN-5
TEST_F(Channels, send_when_it_is_closed_then_the_caller_keeps_the_value) {
  fill();
  const auto waits = send_in_task("waited");
  const auto granted = send_in_task("granted", {.priority = TaskPriority::user_blocking});
  EXPECT_THAT(run(), IsEmpty());
  EXPECT_TRUE(channel->try_receive());
  channel->close();
  EXPECT_THAT(run(), ElementsAre("refused granted", "refused waited"));
  const auto late = send_in_task("late");
  EXPECT_THAT(run(), ElementsAre("refused late"));
  EXPECT_FALSE(channel->try_send("tried"));
  EXPECT_THAT(drain(), ElementsAre("filling"));
}

// Rule: CHN-6
TEST_F(Channels, channel_when_destroyed_then_who_waits_goes_on_with_an_error) {
  fill();
  const auto sending = send_in_task("value");
  EXPECT_THAT(run(), IsEmpty());
  channel.emplace(capacity);
  EXPECT_THAT(run(), ElementsAre("value: what the coroutine waited for was destroyed"));
  const auto receiving = receive_in_task("received");
  EXPECT_THAT(run(), IsEmpty());
  channel.reset();
  EXPECT_THAT(run(), ElementsAre("received: what the coroutine waited for was destroyed"));
}

// Rule: CHN-6
TEST_F(Channels, channel_when_destroyed_then_its_values_are_destroyed_but_for_granted_ones) {
  const LiveCount values;
  std::optional<Channel<LiveCount::Probe>> probes(std::in_place, 2U);
  const auto granted = scheduler.post_task([&]() -> Promise<void> {
    if (co_await probes->receive()) trace.add("received");
  });
  loop.run_until_idle();
  while (probes->try_send(values.probe())) {
  }
  EXPECT_EQ(values.alive(), 2);
  probes.reset();
  EXPECT_EQ(values.alive(), 1) << "one is granted";
  EXPECT_THAT(run(), ElementsAre("received"));
  EXPECT_EQ(values.alive(), 0);
}

// Rule: CHN-2
TEST(ChannelOnPlainThread, receive_when_it_would_wait_then_it_throws) {
  const Channel<int> channel(1);
  EXPECT_TRUE(channel.try_send(1));
  const auto receive = [&]() -> Promise<int> { co_return (co_await channel.receive()).value(); };
  EXPECT_EQ(receive().get(), 1);
  EXPECT_THROW(static_cast<void>(receive().get()), NotAllowedError);
}

}  // namespace
}  // namespace heist::support
