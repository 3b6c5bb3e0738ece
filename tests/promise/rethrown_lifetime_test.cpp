// Rule: LIF-2, PRO-2: how long an agent remembers an exception that was thrown again, and what that
// exception's destructor may do.
#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <heist/heist.hpp>
#include <memory>
#include <stdexcept>
#include <utility>

#include "api/probes.hpp"

namespace heist {
namespace {

/// Acts when its last copy goes.
struct Parting : std::runtime_error {
  explicit Parting(std::function<void()> action)
      : runtime_error("parting"),
        at_end(nullptr, [action = std::move(action)](void*) { action(); }) {}
  std::shared_ptr<void> at_end;
};

void swallow(const Promise<int>& rejected) {
  try {
    static_cast<void>(rejected.get());
  } catch (const std::exception&) {
  }
}

class Lif2Rethrown : public test::LoopTest {
 protected:
  [[nodiscard]] static Promise<int> rejected_with(std::function<void()> at_end) {
    return Promise<int>::rejected(Reason(Parting(std::move(at_end))));
  }
};

// Rule: LIF-2
TEST_F(Lif2Rethrown, exception_when_its_task_is_over_then_gone_before_the_next_one) {
  scheduler.post([this] { swallow(rejected_with(note("gone"))); });
  scheduler.post(note("next"));
  loop.run_until_idle();
  EXPECT_EQ(trace, (test::Trace{"gone", "next"}));
}

// Rule: LIF-2
TEST_F(Lif2Rethrown, exception_when_the_checkpoint_is_over_then_gone_before_the_next_task) {
  scheduler.post([this] {
    queue_microtask([this] { swallow(rejected_with(note("gone"))); });
    queue_microtask(note("microtask"));
  });
  scheduler.post(note("next"));
  loop.run_until_idle();
  EXPECT_EQ(trace, (test::Trace{"microtask", "gone", "next"}));
}

// Rule: LIF-2
TEST_F(Lif2Rethrown,
       exception_when_its_end_queues_a_microtask_then_that_runs_before_the_next_task) {
  scheduler.post(
      [this] { swallow(rejected_with([this] { queue_microtask(note("microtask")); })); });
  scheduler.post(note("next"));
  loop.run_until_idle();
  EXPECT_EQ(trace, (test::Trace{"microtask", "next"}));
}

// Rule: LIF-2
TEST_F(Lif2Rethrown, exception_when_its_end_uses_the_loop_then_it_may) {
  run_task([this] {
    swallow(rejected_with([this] {
      trace.push_back(std::to_string(loop.pending()));
      scheduler.post(note("posted"));
    }));
  });
  EXPECT_EQ(trace, (test::Trace{"0", "posted"}));
}

// Rule: LIF-2. A reason's destructor runs while a poll drains the inbox, outside of any task.
TEST_F(Lif2Rethrown,
       exception_when_it_was_caught_outside_of_tasks_then_its_end_may_drive_the_loop) {
  auto controller = std::make_shared<AbortController>();
  const auto signal = controller->signal();
  scheduler.post([] {}, {.signal = signal});
  auto callback = std::shared_ptr<void>(nullptr, [this](void*) {
    swallow(rejected_with([this] { trace.push_back(std::to_string(loop.run_until_idle())); }));
  });
  scheduler.post([callback = std::move(callback)] {}, {.signal = signal});
  controller->abort();
  loop.run_until_idle();
  EXPECT_EQ(trace, (test::Trace{"0"}));
}

// Rule: ABT-5
TEST_F(Lif2Rethrown, exception_when_another_ones_end_throws_it_again_then_it_goes_all_the_same) {
  run_task([this] {
    const auto inner = rejected_with(note("inner gone"));
    swallow(rejected_with([inner] { swallow(inner); }));
    swallow(Promise<int>::rejected(Reason(std::runtime_error("other"))));
  });
  EXPECT_EQ(trace, (test::Trace{"inner gone"}));
}

// Rule: PRO-2
TEST_F(Lif2Rethrown, reason_when_a_callbacks_captures_catch_another_then_still_the_same) {
  const auto failed = Promise<int>::rejected(Reason(std::runtime_error("no")));
  const auto other = Promise<int>::rejected(Reason(std::runtime_error("other")));
  auto capture = std::shared_ptr<void>(nullptr, [other](void*) { swallow(other); });
  auto result = Promise<int>::resolved(0);
  run_task([&] {
    result = Promise<int>::resolved(1).then(
        [failed, capture = std::move(capture)](int) { return failed.get(); });
  });
  EXPECT_EQ(result.reason(), failed.reason());
}

Promise<int> clean_up_after(Promise<int> body, Promise<void> cleaned_up) {
  std::exception_ptr error;
  try {
    const int value = co_await body;
    co_return value;
  } catch (...) {
    error = std::current_exception();
  }
  co_await cleaned_up;
  std::rethrow_exception(error);
}

// Rule: PRO-2
TEST_F(Lif2Rethrown, reason_when_a_coroutine_awaits_its_clean_up_meanwhile_then_still_the_same) {
  const auto failed = Promise<int>::rejected(Reason(std::runtime_error("no")));
  auto result = Promise<int>::resolved(0);
  run_task([&] { result = clean_up_after(failed, Promise<void>::resolved()); });
  EXPECT_EQ(result.reason(), failed.reason());
}

// Rule: PRO-2
TEST_F(Lif2Rethrown, reason_when_a_nested_loop_runs_meanwhile_then_still_the_same) {
  const auto failed = Promise<int>::rejected(Reason(std::runtime_error("no")));
  const auto result = scheduler.post_task([&]() -> int {
    try {
      return failed.get();
    } catch (const std::runtime_error&) {
      EventLoop nested(test::on_virtual_clock());
      nested.scheduler().post(
          [] { swallow(rejected_with([] { swallow(Promise<int>::rejected(Reason("inner"))); })); });
      nested.run_until_idle();
      throw;
    }
  });
  loop.run_until_idle();
  EXPECT_EQ(result.reason(), failed.reason());
}

}  // namespace
}  // namespace heist
