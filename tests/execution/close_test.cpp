// Closing with operations that wait: each completes exactly once.
#include <gtest/gtest.h>

#include <functional>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "execution/probe.hpp"

namespace heist::execution {
namespace {

using StopEnv = ex::prop<exq::get_stop_token_t, exq::inplace_stop_token>;

class Close : public testing::Test {
 protected:
  [[nodiscard]] auto stoppable() {
    return Probe{&ends, StopEnv{exq::get_stop_token, source.get_token()}};
  }
  [[nodiscard]] auto schedule() { return ex::schedule(as_scheduler(loop.scheduler())); }

  Ends ends;
  exq::inplace_stop_source source;
  EventLoop loop;
};

// Rule: SND-5
TEST_F(Close, close_when_an_operation_waits_that_can_be_stopped_then_it_is_stopped) {
  auto operation = ex::connect(schedule(), stoppable());
  ex::start(operation);
  EXPECT_EQ(loop.close(CloseMode::abort()).aborted, 1U);
  EXPECT_EQ(ends.stops, 1);
  EXPECT_EQ(ends.all(), 1);
}

// Rule: SND-5
TEST_F(Close, close_when_an_operation_waits_with_a_signal_then_it_is_stopped) {
  const TaskController controller;
  auto operation =
      ex::connect(ex::schedule(as_scheduler(loop.scheduler(), controller.signal())), Probe{&ends});
  ex::start(operation);
  loop.close(CloseMode::abort());
  EXPECT_EQ(ends.stops, 1);
  EXPECT_EQ(ends.all(), 1);
}

// Rule: SND-5
TEST_F(Close, close_when_it_drains_then_operations_complete_in_tasks) {
  auto operation = ex::connect(schedule(), stoppable());
  ex::start(operation);
  EXPECT_EQ(loop.close(CloseMode::drain()).ran, 1U);
  EXPECT_EQ(ends.values, 1);
  EXPECT_EQ(ends.all(), 1);
}

// Rule: SND-5
TEST_F(Close, close_when_an_operation_waits_that_cannot_be_stopped_then_it_completes_within) {
  std::thread::id on;
  auto operation = ex::connect(schedule(), Calling{[&] { on = std::this_thread::get_id(); }});
  ex::start(operation);
  loop.close(CloseMode::abort());
  EXPECT_EQ(on, std::this_thread::get_id());
}

/// Schedules itself again when it completes, some times in all.
class Again {
 public:
  Again(TaskScheduler scheduler, int times) : scheduler_(scheduler), left_(times) {}
  void start() {
    operation_.emplace(*this);
    ex::start(operation_->of);
  }
  [[nodiscard]] int left() const { return left_; }

 private:
  struct Next {
    using receiver_concept = ReceiverTag;
    Again* of;
    void set_value() noexcept {
      if (--of->left_ > 0) of->start();
    }
  };
  struct Made {
    explicit Made(Again& again) : of(ex::connect(ex::schedule(again.scheduler_), Next{&again})) {}
    ex::connect_result_t<ScheduleSender<TaskScheduler>, Next> of;
  };

  TaskScheduler scheduler_;
  int left_;
  std::optional<Made> operation_;
};

// Rule: SND-5
TEST_F(Close, close_when_what_completes_schedules_more_then_all_of_it_completes_without_stack) {
  Again again(as_scheduler(loop.scheduler()), 1'000'000);
  again.start();
  loop.close(CloseMode::abort());
  EXPECT_EQ(again.left(), 0);
}

// Rule: SND-5
TEST_F(Close, start_when_the_loop_is_closed_then_an_operation_that_can_be_stopped_is_stopped) {
  loop.close(CloseMode::abort());
  auto operation = ex::connect(schedule(), stoppable());
  ex::start(operation);
  EXPECT_EQ(ends.stops, 1);
  EXPECT_EQ(ends.all(), 1);
}

// Rule: SND-5
TEST_F(Close, start_when_the_loop_is_closed_then_one_that_cannot_be_stopped_ends_the_program) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  loop.close(CloseMode::abort());
  auto operation = ex::connect(schedule(), Probe{&ends});
  EXPECT_DEATH(ex::start(operation), "started on an event loop or cluster that is closed");
}

// Rule: SND-5
TEST_F(Close, start_when_another_loop_closes_meanwhile_then_it_ends_the_program_all_the_same) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto close_both = [&] {
    EventLoop closed;
    closed.close(CloseMode::abort());
    auto second = ex::connect(ex::schedule(as_scheduler(closed.scheduler())), Probe{&ends});
    auto first = ex::connect(schedule(), Calling{[&] { ex::start(second); }});
    ex::start(first);
    loop.close(CloseMode::abort());
  };
  EXPECT_DEATH(close_both(), "started on an event loop or cluster that is closed");
}

}  // namespace
}  // namespace heist::execution
