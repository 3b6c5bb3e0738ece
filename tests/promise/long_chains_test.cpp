// Rule: PRO-1: chains of awaits, reactions and microtasks of any length take constant stack.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <heist/heist.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "api/probes.hpp"

namespace heist {
namespace {

/// How far apart the stack positions noted are, in bytes.
class StackSpan {
 public:
  [[gnu::noinline]] void note() {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    lowest_ = std::min(lowest_, here);
    highest_ = std::max(highest_, here);
  }
  [[nodiscard]] std::uintptr_t bytes() const { return highest_ - lowest_; }

 private:
  std::uintptr_t lowest_ = UINTPTR_MAX;
  std::uintptr_t highest_ = 0;
};

/// More than the frames between a loop and a resumed body may differ by; less than a leak of one
/// frame an await would make of a thousand awaits.
constexpr std::uintptr_t few_frames = 16 * 1024;

class Pro1LongChains : public test::LoopTest {
 protected:
  StackSpan span;
};

Promise<int> await_settled(int count, StackSpan& span) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    const auto one = Promise<int>::resolved(1);
    const int value = co_await one;
    sum += value;
    if (i > 0) span.note();  // from the second on all resume from the loop
  }
  co_return sum;
}

TEST_F(Pro1LongChains, await_when_a_million_settled_promises_then_stack_is_constant) {
  constexpr int count = 1'000'000;
  auto result = Promise<int>::resolved(0);
  run_task([&] { result = await_settled(count, span); });
  EXPECT_EQ(result.get(), count);
  EXPECT_LT(span.bytes(), few_frames);
}

Promise<int> child(StackSpan& span) {
  const auto one = Promise<int>::resolved(1);
  const int value = co_await one;
  span.note();
  co_return value;
}

Promise<int> await_children(int count, StackSpan& span) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    const auto next = child(span);
    const int value = co_await next;
    sum += value;
  }
  co_return sum;
}

TEST_F(Pro1LongChains, await_when_a_hundred_thousand_coroutines_in_turn_then_stack_is_constant) {
  constexpr int count = 100'000;
  auto result = Promise<int>::resolved(0);
  run_task([&] { result = await_children(count, span); });
  EXPECT_EQ(result.get(), count);
  EXPECT_LT(span.bytes(), few_frames);
}

Promise<int> follow(Promise<int> before, StackSpan& span) {
  const int value = co_await before;
  span.note();
  co_return value + 1;
}

TEST_F(Pro1LongChains,
       await_when_each_of_a_hundred_thousand_waits_for_the_one_before_then_stack_is_constant) {
  constexpr int count = 100'000;
  auto [root, resolver] = Promise<int>::with_resolver();
  auto last = root;
  run_task([&] {
    for (int i = 0; i < count; ++i) last = follow(last, span);
  });
  run_task([&] { resolver.resolve(0); });
  EXPECT_EQ(last.get(), count);
  EXPECT_LT(span.bytes(), few_frames);
}

TEST_F(Pro1LongChains,
       then_when_each_of_a_hundred_thousand_follows_the_one_before_then_stack_is_constant) {
  constexpr int count = 100'000;
  auto [root, resolver] = Promise<int>::with_resolver();
  auto last = root;
  run_task([&] {
    for (int i = 0; i < count; ++i) {
      last = last.then([this](int value) {
        span.note();
        return value + 1;
      });
    }
  });
  run_task([&] { resolver.resolve(0); });
  EXPECT_EQ(last.get(), count);
  EXPECT_LT(span.bytes(), few_frames);
}

TEST_F(Pro1LongChains, microtask_when_each_queues_the_next_then_stack_is_constant) {
  constexpr int count = 100'000;
  int ran = 0;
  std::function<void()> again = [&] {
    span.note();
    if (++ran < count) queue_microtask([&again] { again(); });
  };
  run_task([&again] { queue_microtask([&again] { again(); }); });
  EXPECT_EQ(ran, count);
  EXPECT_LT(span.bytes(), few_frames);
}

Promise<int> await_tasks(Scheduler scheduler, int count, StackSpan& span) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    const auto task = scheduler.post_task([] { return 1; });
    const int value = co_await task;
    sum += value;
    span.note();
  }
  co_return sum;
}

TEST_F(Pro1LongChains, await_when_a_hundred_thousand_tasks_in_turn_then_stack_is_constant) {
  constexpr int count = 100'000;
  auto result = Promise<int>::resolved(0);
  run_task([&] { result = await_tasks(scheduler, count, span); });
  EXPECT_EQ(result.get(), count);
  EXPECT_LT(span.bytes(), few_frames);
}

/// What nests in the user's own calls and values takes stack, as calls and values do: so much for
/// each level as docs/policies.md states for optimised code. Other code, and sanitizers, make
/// frames several times as large.
#if defined(__OPTIMIZE__) && !defined(HEIST_SANITIZER_ADDRESS) && !defined(HEIST_SANITIZER_THREAD)
constexpr std::uintptr_t frames = 1;
#else
constexpr std::uintptr_t frames = 32;
#endif
constexpr std::uintptr_t most_of_a_call = 128 * frames;
constexpr std::uintptr_t most_of_a_value = 32 * frames;
constexpr std::uintptr_t most_of_a_listener = 400 * frames;
constexpr int levels = 1000;

Promise<int> nest(int depth, StackSpan& span) {
  span.note();
  if (depth == 0) co_return 0;
  const auto inner = nest(depth - 1, span);
  co_return 1 + co_await inner;
}

TEST_F(Pro1LongChains, coroutine_when_it_calls_itself_then_a_level_takes_as_much_as_is_stated) {
  auto result = Promise<int>::resolved(0);
  run_task([&] { result = nest(levels, span); });
  EXPECT_EQ(result.get(), levels);
  EXPECT_LE(span.bytes() / levels, most_of_a_call);
}

/// Notes where it is destroyed.
class Noted {
 public:
  explicit Noted(StackSpan& span) : span_(&span) {}
  Noted(Noted&& other) noexcept : span_(std::exchange(other.span_, nullptr)) {}
  Noted& operator=(Noted&&) = delete;
  ~Noted() {
    if (span_ != nullptr) span_->note();
  }

 private:
  StackSpan* span_;
};

struct Item {
  Noted noted;
  std::optional<Promise<Item>> next;
};

TEST_F(Pro1LongChains, value_when_it_holds_the_promise_of_the_next_then_a_level_takes_as_stated) {
  std::optional<Promise<Item>> first;
  for (int i = 0; i < levels; ++i) {
    first = Promise<Item>::resolved(Item{Noted(span), std::move(first)});
  }
  first.reset();
  EXPECT_GT(span.bytes(), 0U);
  EXPECT_LE(span.bytes() / levels, most_of_a_value);
}

TEST_F(Pro1LongChains, listener_when_it_aborts_the_next_signal_then_a_level_takes_as_stated) {
  std::vector<AbortController> controllers(levels + 1);
  std::vector<Subscription> subscriptions;
  for (std::size_t i = 0; i < levels; ++i) {
    subscriptions.push_back(controllers[i].signal().on_abort([&, i] {
      span.note();
      controllers[i + 1].abort();
    }));
  }
  controllers[0].abort();
  EXPECT_TRUE(controllers[levels].signal().aborted());
  EXPECT_LE(span.bytes() / levels, most_of_a_listener);
}

}  // namespace
}  // namespace heist
