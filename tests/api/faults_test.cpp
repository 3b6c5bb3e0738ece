// Rule: LIF-3: what a callback throws harms nothing else, and reaches somebody. WPT: PT-04.
#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <heist/heist.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "api/probes.hpp"

namespace heist {
namespace {

using namespace std::chrono_literals;
using test::ErrorLog;
using test::LoopTest;
using test::Trace;

class Lif3 : public LoopTest {
 protected:
  /// The only report so far.
  ErrorLog::Entry only_report() {
    auto entries = ErrorLog::take();
    EXPECT_EQ(entries.size(), 1U);
    return entries.empty() ? ErrorLog::Entry{} : entries.front();
  }

  ErrorLog log;
};

void fail() { throw std::runtime_error("thrown by the task"); }

TEST_F(Lif3, post_when_the_task_throws_then_reported_and_the_next_task_runs) {
  const auto before = reported_error_count();
  scheduler.post(fail);
  scheduler.post(note("next"));
  loop.run_until_idle();
  const auto report = only_report();
  EXPECT_EQ(report.origin, ErrorOrigin::task);
  EXPECT_EQ(report.reason.what(), "thrown by the task");
  EXPECT_EQ(report.thread, std::this_thread::get_id());
  EXPECT_EQ(reported_error_count(), before + 1);
  EXPECT_EQ(trace, (Trace{"next"}));
}

TEST_F(Lif3, post_when_the_task_has_a_signal_and_throws_then_reported) {
  const AbortController controller;
  scheduler.post(fail, {.signal = controller.signal()});
  scheduler.post(note("next"));
  loop.run_until_idle();
  EXPECT_EQ(only_report().origin, ErrorOrigin::task);
  EXPECT_EQ(trace, (Trace{"next"}));
}

TEST_F(Lif3, post_when_the_task_is_delayed_and_throws_then_reported) {
  scheduler.post(fail, {.delay = 5ms});
  loop.advance(5ms);
  EXPECT_EQ(only_report().origin, ErrorOrigin::task);
}

TEST_F(Lif3, post_when_what_is_thrown_is_no_exception_class_then_reported_all_the_same) {
  scheduler.post([] { throw 42; });
  loop.run_until_idle();
  const auto report = only_report();
  EXPECT_TRUE(test::throws<int>([&] { report.reason.rethrow(); }));
}

TEST_F(Lif3, post_when_the_task_throws_then_its_callback_and_microtasks_are_served) {
  const auto probe = std::make_shared<int>();
  run_task([this, probe] {
    queue_microtask(note("microtask"));
    fail();
  });
  EXPECT_EQ(only_report().origin, ErrorOrigin::task);
  EXPECT_EQ(probe.use_count(), 1);
  EXPECT_EQ(trace, (Trace{"microtask"}));
}

TEST_F(Lif3, post_task_when_the_task_throws_and_the_promise_is_observed_then_not_reported) {
  const auto promise = scheduler.post_task(fail);
  loop.run_until_idle();
  EXPECT_THROW(promise.get(), std::runtime_error);
  EXPECT_TRUE(ErrorLog::take().empty());
}

// Rule: ABT-6 (the late outcome of an aborted task is dropped)
TEST_F(Lif3, post_when_the_task_aborted_its_own_signal_and_throws_then_the_loop_survives) {
  AbortController controller;
  scheduler.post(
      [&controller] {
        controller.abort();
        fail();
      },
      {.signal = controller.signal()});
  scheduler.post(note("next"));
  loop.run_until_idle();
  EXPECT_EQ(trace, (Trace{"next"}));
}

TEST(Lif3Hook, set_error_hook_when_called_then_gives_the_former_one_back) {
  const ErrorHook mine = [](ErrorOrigin, const Reason&) noexcept {};
  const ErrorHook standard = set_error_hook(mine);
  EXPECT_NE(standard, nullptr);
  EXPECT_EQ(set_error_hook(nullptr), mine);
  EXPECT_EQ(set_error_hook(nullptr), standard);
}

// Only its reason does, whose holders ThreadSanitizer sees.
TEST(Lif3Hook, hook_when_a_callback_throws_then_no_handler_holds_the_exception) {
  static int held = 0;
  static int released = 0;
  const ErrorHook former = set_error_hook(
      [](ErrorOrigin, const Reason&) noexcept { ++(std::current_exception() ? held : released); });
  EventLoop loop(test::on_virtual_clock());
  loop.scheduler().post([] {
    queue_microtask(fail);
    set_timeout(fail);
    fail();
  });
  loop.run_until_idle();
  set_error_hook(former);
  EXPECT_EQ(held, 0);
  EXPECT_EQ(released, 3);
}

TEST(Lif3Hook, standard_hook_when_a_task_throws_then_one_line_on_standard_error) {
  EventLoop loop;
  loop.scheduler().post(fail);
  testing::internal::CaptureStderr();
  loop.run_until_idle();
  const std::string output = testing::internal::GetCapturedStderr();
  EXPECT_NE(output.find("thrown by the task"), std::string::npos) << output;
  EXPECT_EQ(output.find('\n'), output.size() - 1) << output;
}

}  // namespace
}  // namespace heist
