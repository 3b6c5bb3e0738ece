// Rules: SCO-1, SCO-4, SCO-6: joins that are left, refused or come late, and scopes whose loop
//        nobody drives.
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "heist/loop/drain_watch.hpp"
#include "scopes/scope_fixture.hpp"

namespace heist::support {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

class LeftScope : public RuntimeFixture {
 protected:
  EventLoop loop;
};

// Rule: SCO-4
TEST_F(LeftScope,
       parent_when_a_close_destroys_it_between_join_and_await_then_its_tasks_have_ended) {
  int touched = 0;
  const auto parent = [&]() -> Promise<void> {
    TaskScope scope(loop.scheduler());
    scope.start([last = Touching(touched)] {});
    auto join = scope.join();
    co_await yield();
    co_await std::move(join);
  };
  const auto promise = loop.scheduler().post_task(parent);
  EXPECT_TRUE(loop.run_one());
  loop.close(CloseMode::abort());
  EXPECT_EQ(promise.status(), PromiseStatus::rejected);
  EXPECT_EQ(touched, 1);
}

// Rule: SCO-4: the join is made by what the frame's end runs, and is not in the frame.
TEST_F(LeftScope, join_when_a_destructor_of_a_frame_that_goes_calls_it_then_it_waits_and_throws) {
  const Agent agent;
  std::string thrown;
  auto never = later<void>();
  const auto parent = [&]() -> Promise<void> {
    const AtDestruction end([&] {
      TaskScope scope(agent.scheduler());
      scope.start([] { throw std::runtime_error("within"); });
      thrown = what_is_thrown_by_join(scope);
    });
    co_await never.promise;
  };
  static_cast<void>(loop.scheduler().post_task(parent));
  loop.run_until_idle();
  loop.close(CloseMode::abort());
  never.resolve();
  EXPECT_EQ(thrown, "within");
}

// Rule: SCO-4
TEST_F(LeftScope, join_when_it_is_refused_then_more_can_be_started) {
  int ran = 0;
  const auto parent = [&]() -> Promise<void> {
    TaskScope scope(loop.scheduler());
    const auto task = [&] { ++ran; };
    scope.start(task, {.priority = TaskPriority::user_blocking});
    EXPECT_THROW(scope.join(), NotAllowedError);
    const auto next = loop.scheduler().post_task([] {});
    co_await next;
    EXPECT_EQ(ran, 1);
    EXPECT_TRUE(scope.start(task));
    co_await scope.join();
  };
  const auto promise = loop.scheduler().post_task(parent);
  loop.run_until_idle();
  promise.get();
  EXPECT_EQ(ran, 2);
}

// Rule: SCO-4
TEST_F(LeftScope, join_when_it_is_awaited_off_an_agent_then_refused_and_more_can_be_started) {
  int ran = 0;
  TaskScope scope(loop.scheduler());
  scope.start([&] { ++ran; });
  const auto off_an_agent = [&]() -> Promise<void> { co_await scope.join(); };
  EXPECT_THROW(off_an_agent().get(), NotAllowedError);
  loop.run_until_idle();
  EXPECT_TRUE(scope.start([&] { ++ran; }));
  loop.run_until_idle();
  scope.join();
  EXPECT_EQ(ran, 2);
}

// Rule: SCO-6
TEST_F(LeftScope, scope_when_nobody_drives_its_loop_then_its_destructor_disposes_of_its_tasks) {
  int touched = 0;
  const auto leave = [&] {
    TaskScope scope(loop.scheduler());
    scope.start([last = Touching(touched)] { FAIL() << "aborted"; });
    scope.start([last = Touching(touched)] { FAIL() << "aborted"; }, {.delay = 1h});
    throw std::runtime_error("on the way");
  };
  EXPECT_EQ(what_is_thrown_by(leave), "on the way");
  EXPECT_EQ(touched, 2);
}

// Rule: SCO-6
TEST_F(LeftScope, join_when_aborted_and_nobody_drives_its_loop_then_it_returns) {
  int touched = 0;
  TaskScope scope(loop.scheduler());
  scope.start([last = Touching(touched)] { FAIL() << "aborted"; });
  scope.abort();
  EXPECT_THROW(scope.join(), AbortError);
  EXPECT_EQ(touched, 1);
}

// Rule: SCO-6
TEST_F(LeftScope, loop_when_a_capture_drives_it_in_its_end_then_not_allowed) {
  std::string thrown;
  {
    TaskScope scope(loop.scheduler());
    scope.start([end = AtDestruction(
                     [&] { thrown = what_is_thrown_by([&] { loop.run_until_idle(); }); })] {});
  }
  EXPECT_THAT(thrown, HasSubstr("being driven already"));
}

// Rule: SCO-6: who drives the loop meanwhile waits, and is not refused.
TEST_F(LeftScope, loop_when_a_destructor_clears_it_away_then_its_driver_waits_for_that) {
  for (int round = 0; round < 200; ++round) {
    int touched = 0;
    std::atomic<bool> goes{true};
    std::thread driver([&] {
      while (goes) loop.run_until_idle();
    });
    {
      TaskScope scope(loop.scheduler());
      for (int i = 0; i < 10; ++i) scope.start([last = Touching(touched)] {}, {.delay = 1h});
    }
    EXPECT_EQ(touched, 10);
    goes = false;
    driver.join();
  }
}

// Rule: SCO-6
TEST_F(LeftScope, scope_when_a_coroutine_is_left_that_nobody_drives_then_the_error_hook_is_told) {
  const auto former = detail::set_drain_patience(10ms);
  auto never = later<void>();
  auto scope = std::make_unique<TaskScope>(loop.scheduler());
  scope->start([&]() -> Promise<void> { co_await never.promise; });
  loop.run_until_idle();
  std::atomic<bool> is_gone{false};
  std::thread owner([&] {
    scope.reset();
    is_gone = true;
  });
  std::vector<RecordedError> told;
  wait_until([&] { return !(told = errors.take()).empty(); });
  EXPECT_EQ(told[0].origin, ErrorOrigin::wait);
  EXPECT_THAT(told[0].what, HasSubstr("nobody drives the event loop"));
  never.resolve();
  wait_until([&] {
    loop.run_until_idle();
    return is_gone.load();
  });
  owner.join();
  detail::set_drain_patience(former);
}

// Rule: SCO-6: the coroutine has ended, and only that the scope has not been told.
TEST_F(LeftScope, scope_when_its_coroutine_has_just_ended_then_its_agent_may_destroy_it) {
  auto both = later<void>();
  const auto parent = [&]() -> Promise<void> {
    TaskScope scope(loop.scheduler());
    scope.start([&]() -> Promise<void> { co_await both.promise; },
                {.priority = TaskPriority::user_blocking});
    const auto next = loop.scheduler().post_task([] {});
    co_await next;
    loop.scheduler().post([&] { both.resolve(); });
    co_await both.promise;
    throw std::runtime_error("of the owner");
  };
  const auto promise = loop.scheduler().post_task(parent);
  loop.run_until_idle();
  EXPECT_EQ(what_is_thrown_by([&] { promise.get(); }), "of the owner");
}

// Rule: SCO-2: whoever gives a reason knows it.
TEST_F(LeftScope, scope_when_it_was_aborted_with_an_error_and_not_joined_then_nothing_is_reported) {
  {
    TaskScope scope(loop.scheduler());
    scope.abort(std::make_exception_ptr(std::runtime_error("given")));
  }
  EXPECT_THAT(errors.take(), IsEmpty());
}

}  // namespace
}  // namespace heist::support
