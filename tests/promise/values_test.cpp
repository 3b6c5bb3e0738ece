// Rule: PRO-1, PRO-2; WPT: PT-01, PT-02.
#include <gtest/gtest.h>

#include <heist/heist.hpp>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "api/probes.hpp"

namespace heist {
namespace {

using test::LoopTest;

enum class Poster { driver, task, foreign_thread };

class Pro1PriorityAndPoster : public LoopTest,
                              public testing::WithParamInterface<std::tuple<TaskPriority, Poster>> {
 protected:
  Promise<int> post_answer() {
    const PostTaskOptions options{.priority = std::get<TaskPriority>(GetParam())};
    auto promise = Promise<int>::resolved(0);
    const auto post = [&] { promise = scheduler.post_task([] { return 42; }, options); };
    switch (std::get<Poster>(GetParam())) {
      case Poster::driver:
        post();
        break;
      case Poster::task:
        run_task(post);
        break;
      case Poster::foreign_thread:
        test::on_plain_thread(post);
        break;
    }
    return promise;
  }
};

// Rule: PRO-1
TEST_P(Pro1PriorityAndPoster,
       WPT_PT_01_post_task_when_callback_returns_then_promise_has_its_value) {
  const auto promise = post_answer();
  loop.run_until_idle();
  ASSERT_EQ(promise.status(), PromiseStatus::fulfilled);
  EXPECT_EQ(promise.get(), 42);
}

INSTANTIATE_TEST_SUITE_P(
    All, Pro1PriorityAndPoster,
    testing::Combine(testing::Values(TaskPriority::background, TaskPriority::user_visible,
                                     TaskPriority::user_blocking),
                     testing::Values(Poster::driver, Poster::task, Poster::foreign_thread)));

class Pro1Values : public LoopTest {};

// Rule: PRO-1
TEST_F(Pro1Values, promise_when_task_has_not_run_then_pending) {
  const auto promise = scheduler.post_task([] { return 1; });
  EXPECT_EQ(promise.status(), PromiseStatus::pending);
  EXPECT_FALSE(promise.settled());
  EXPECT_FALSE(promise.reason());
  loop.run_until_idle();
  EXPECT_TRUE(promise.settled());
}

// Rule: PRO-1
TEST_F(Pro1Values, WPT_PT_02_post_task_when_callback_returns_void_then_promise_fulfils) {
  bool ran = false;
  const Promise<void> promise = scheduler.post_task([&ran] { ran = true; });
  loop.run_until_idle();
  promise.get();
  EXPECT_TRUE(ran);
}

// Rule: PRO-1
TEST_F(Pro1Values, WPT_PT_02_get_when_value_is_move_only_then_a_temporary_handle_moves_it_out) {
  auto promise = scheduler.post_task([] { return std::make_unique<int>(7); });
  loop.run_until_idle();
  const std::unique_ptr<int> value = std::move(promise).get();
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, 7);
}

// Rule: PRO-1
TEST_F(Pro1Values, get_when_value_is_move_only_then_a_kept_handle_gives_a_reference) {
  const auto promise = scheduler.post_task([] { return std::make_unique<int>(7); });
  loop.run_until_idle();
  EXPECT_EQ(*promise.get(), 7);
  EXPECT_EQ(&promise.get(), &promise.get());
}

// Rule: PRO-1
TEST_F(Pro1Values, WPT_PT_02_get_when_callback_returns_a_reference_then_it_is_the_same_object) {
  std::string target = "here";
  const Promise<std::string&> promise =
      scheduler.post_task([&target]() -> std::string& { return target; });
  loop.run_until_idle();
  EXPECT_EQ(&promise.get(), &target);
}

// Rule: PRO-1
TEST_F(Pro1Values, get_when_a_temporary_handle_is_asked_then_other_handles_keep_a_copyable_value) {
  auto promise = scheduler.post_task([] { return std::string("kept"); });
  const auto other = promise;
  loop.run_until_idle();
  EXPECT_EQ(std::move(promise).get(), "kept");
  EXPECT_EQ(other.get(), "kept");
}

// Rule: PRO-1
TEST_F(Pro1Values, value_when_last_handle_goes_then_destroyed) {
  const auto probe = std::make_shared<int>();
  {
    auto promise = scheduler.post_task([probe] { return probe; });
    auto other = promise;
    loop.run_until_idle();
    EXPECT_EQ(probe.use_count(), 2);  // ours and the promise's: the callback is gone
    promise = Promise<std::shared_ptr<int>>::resolved(nullptr);
    EXPECT_EQ(probe.use_count(), 2);
  }
  EXPECT_EQ(probe.use_count(), 1);
}

// Rule: PRO-1
TEST_F(Pro1Values, callback_when_move_only_then_accepted_by_both_posts) {
  int sum = 0;
  const auto promise = scheduler.post_task([&sum, add = std::make_unique<int>(1)] { sum += *add; });
  scheduler.post([&sum, add = std::make_unique<int>(2)] { sum += *add; });
  loop.run_until_idle();
  EXPECT_EQ(sum, 3);
}

// Rule: PRO-1 (destroyed on the agent, when the callback has returned)
TEST_F(Pro1Values, callback_when_it_has_run_then_destroyed_though_the_promise_is_held) {
  const auto probe = std::make_shared<int>();
  const auto promise = scheduler.post_task([probe] {});
  loop.run_until_idle();
  EXPECT_TRUE(promise.settled());
  EXPECT_EQ(probe.use_count(), 1);
}

// Rule: PRO-1
TEST_F(Pro1Values, promise_when_dropped_then_the_task_runs_all_the_same) {
  bool ran = false;
  static_cast<void>(scheduler.post_task([&ran] { ran = true; }));
  loop.run_until_idle();
  EXPECT_TRUE(ran);
}

// Rule: PRO-1, PRI-1 (priority is a closed set of values)
TEST_F(Pro1Values, post_task_when_priority_is_no_priority_then_invalid_argument) {
  const PostTaskOptions options{.priority = static_cast<TaskPriority>(3)};
  EXPECT_THROW(static_cast<void>(scheduler.post_task([] {}, options)), std::invalid_argument);
  EXPECT_THROW(scheduler.post([] {}, options), std::invalid_argument);
  EXPECT_EQ(loop.pending(), 0U);
}

}  // namespace
}  // namespace heist
