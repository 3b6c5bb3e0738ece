// What post and post_task take and give.
#include <array>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "support/posted_from.hpp"

namespace heist {
namespace {

using namespace support;  // NOLINT(google-build-using-namespace): the whole of it is for tests
using testing::ElementsAre;

class PostTask : public VirtualLoopFixture {};
class PostTaskFrom : public PostedFrom {};
INSTANTIATE_TEST_SUITE_P(Origins, PostTaskFrom, every_origin, origin_name);

TEST_P(PostTaskFrom, WPT_PT_01_post_task_when_of_any_priority_then_gives_the_callbacks_value) {
  for (const auto priority : every_priority) {
    std::optional<Promise<std::string>> promise;
    from_origin([&] {
      promise = scheduler.post_task(tracked([=] { return std::string(to_string(priority)); }),
                                    {.priority = priority});
    });
    EXPECT_FALSE(promise->settled());
    loop.run_until_idle();
    EXPECT_EQ(promise->get(), to_string(priority));
  }
}

TEST_F(PostTask, WPT_PT_02_post_task_when_the_value_is_of_any_kind_then_gives_it) {
  int target = 1;
  const auto nothing = scheduler.post_task(tracked([] {}));
  auto movable = scheduler.post_task(tracked([] { return std::make_unique<int>(7); }));
  const auto reference = scheduler.post_task(tracked([&]() -> int& { return target; }));
  loop.run_until_idle();
  nothing.get();
  EXPECT_EQ(*std::move(movable).get(), 7);
  EXPECT_EQ(&reference.get(), &target);
}

struct CustomError : std::runtime_error {
  explicit CustomError(int number) : runtime_error("custom"), code(number) {}
  int code;
};

TEST_F(PostTask, WPT_PT_03_post_task_when_the_callback_throws_then_gives_the_very_exception) {
  const void* thrown = nullptr;
  const auto promise = scheduler.post_task(tracked([&] {
    try {
      throw CustomError(42);
    } catch (const CustomError& error) {
      thrown = &error;
      throw;
    }
  }));
  loop.run_until_idle();
  try {
    promise.get();
    FAIL() << "nothing thrown";
  } catch (const CustomError& error) {
    EXPECT_EQ(error.code, 42);
    EXPECT_EQ(&error, thrown);
  }
}

TEST_F(PostTask, WPT_PT_03_post_task_when_something_else_is_thrown_then_gives_it) {
  const auto promise = scheduler.post_task(tracked([] { throw 42; }));
  loop.run_until_idle();
  EXPECT_THROW(promise.get(), int);
}

// Rule: LIF-3
TEST_F(PostTask, WPT_PT_04_post_task_when_the_callback_throws_then_the_next_task_runs) {
  const auto failing = scheduler.post_task(tracked([] { throw CustomError(1); }));
  post("next");
  EXPECT_THAT(run(), ElementsAre("next"));
  EXPECT_THROW(failing.get(), CustomError);
}

// Rule: LIF-3
TEST_F(PostTask, post_when_the_callback_throws_then_the_hook_hears_of_it_and_the_next_task_runs) {
  scheduler.post(tracked([] { throw CustomError(1); }));
  scheduler.post(tracked([] { throw CustomError(2); }), {.signal = AbortController().signal()});
  post("next");
  EXPECT_THAT(run(), ElementsAre("next"));
  EXPECT_THAT(errors.take(), ElementsAre(RecordedError{ErrorOrigin::task, "custom"},
                                         RecordedError{ErrorOrigin::task, "custom"}));
}

TEST_F(PostTask, WPT_PT_05_post_task_when_the_callback_returns_a_promise_then_settles_as_that_one) {
  auto inner = Promise<int>::with_resolver();
  const Promise<int> outer =
      scheduler.post_task(tracked([promise = inner.promise] { return promise; }));
  loop.run_until_idle();
  EXPECT_FALSE(outer.settled());
  inner.resolver.resolve(3);
  loop.run_until_idle();
  EXPECT_EQ(outer.get(), 3);
}

TEST_F(PostTask, post_task_when_the_callback_is_move_only_then_runs_it) {
  const auto promise = scheduler.post_task([number = std::make_unique<int>(5)] { return *number; });
  loop.run_until_idle();
  EXPECT_EQ(promise.get(), 5);
}

TEST_F(PostTask, post_task_when_given_an_lvalue_then_runs_a_copy) {
  int calls = 0;
  const auto callback = [&calls, own = 0]() mutable { calls += ++own; };
  const auto first = scheduler.post_task(callback);
  const auto second = scheduler.post_task(callback);
  loop.run_until_idle();
  EXPECT_EQ(calls, 2);
}

TEST_F(PostTask, post_task_when_it_ran_then_the_callback_is_destroyed_before_the_next_task) {
  const auto promise = scheduler.post_task(tracked([] { return 1; }));
  EXPECT_EQ(callbacks.alive(), 1);
  loop.run_one();
  EXPECT_EQ(callbacks.alive(), 0);
  EXPECT_EQ(promise.get(), 1);
}

TEST_F(PostTask, post_task_when_the_priority_is_invalid_then_throws_and_nothing_is_posted) {
  const PostTaskOptions options{.priority = static_cast<TaskPriority>(3)};
  EXPECT_THROW(static_cast<void>(post_task("a", options)), std::invalid_argument);
  EXPECT_THROW(post("a", options), std::invalid_argument);
  EXPECT_EQ(loop.pending(), 0U);
}

// Rule: YLD-5
TEST_F(PostTask, current_when_in_a_task_then_the_scheduler_it_was_posted_to) {
  const Scheduler second = loop.create_scheduler();
  EXPECT_EQ(Scheduler::current(), std::nullopt);
  const auto own = scheduler.post_task([] { return Scheduler::current(); });
  const auto other = second.post_task([] { return Scheduler::current(); });
  loop.run_until_idle();
  EXPECT_EQ(own.get(), scheduler);
  EXPECT_EQ(other.get(), second);
  EXPECT_NE(scheduler, second);
  EXPECT_EQ(Scheduler::current(), std::nullopt);
}

}  // namespace
}  // namespace heist
