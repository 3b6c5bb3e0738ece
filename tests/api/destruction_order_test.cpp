// Rule: LIF-2, WPT: MT-14, DET-04: signals, controllers, schedulers, promises and agents are
// destroyed in every order. The sanitizers look after the memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/probes.hpp"

namespace heist {
namespace {

using namespace std::chrono_literals;

/// Where the task is when everything is torn down.
enum class TaskIs {
  not_posted,
  queued,
  delayed,
  done,
  waiting_for_a_promise,
  aborted,
  fire_and_forget
};
enum class Host { embedded_loop, agent };

/// What is destroyed, each on its own.
enum class Piece { signal, controller, scheduler, promise, host };
using Order = std::array<Piece, 5>;

class Parts {
 public:
  Parts(TaskIs task_is, Host where) {
    if (where == Host::agent) {
      agent_.emplace();
      scheduler_ = agent_->scheduler();
    } else {
      loop_.emplace(test::on_virtual_clock());
      scheduler_ = loop_->scheduler();
    }
    post(task_is);
  }

  void destroy(Piece piece) {
    switch (piece) {
      using enum Piece;
      case signal:
        return signal_.reset();
      case controller:
        return controller_.reset();
      case scheduler:
        return scheduler_.reset();
      case promise:
        return promise_.reset();
      case host:
        agent_.reset();
        return loop_.reset();
    }
  }

  /// Copies of it are in everything the task owns.
  const std::shared_ptr<int> probe = std::make_shared<int>();

 private:
  void post(TaskIs task_is) {
    const PostTaskOptions options{.signal = signal_};
    const PostTaskOptions delayed{.signal = signal_, .delay = 1h};
    const auto callback = [probe = probe] { return probe; };
    switch (task_is) {
      case TaskIs::not_posted:
        return;
      case TaskIs::queued:
        promise_ = scheduler_->post_task(callback, options);
        return;
      case TaskIs::delayed:
        promise_ = scheduler_->post_task(callback, delayed);
        return settle_down();
      case TaskIs::done:
        promise_ = scheduler_->post_task(callback, options);
        return settle_down();
      case TaskIs::waiting_for_a_promise:
        promise_ = scheduler_->post_task(
            [probe = probe, scheduler = *scheduler_, delayed] {
              return scheduler.post_task([probe] { return probe; }, delayed);
            },
            options);
        return settle_down();
      case TaskIs::aborted:
        promise_ = scheduler_->post_task(callback, delayed);
        return controller_->abort();
      case TaskIs::fire_and_forget:
        scheduler_->post([probe = probe] {}, delayed);
        return settle_down();
    }
  }
  /// Lets the host do what it has to do.
  void settle_down() {
    if (loop_) {
      loop_->run_until_idle();
    } else {
      scheduler_->post_task([] {}, {.priority = TaskPriority::background}).get();
    }
  }

  std::optional<TaskController> controller_ = std::make_optional<TaskController>();
  std::optional<TaskSignal> signal_ = controller_->signal();
  std::optional<EventLoop> loop_;
  std::optional<Agent> agent_;
  std::optional<Scheduler> scheduler_;
  std::optional<Promise<std::shared_ptr<int>>> promise_;
};

struct Case {
  TaskIs task_is;
  Host where;
};

class Lif2 : public testing::TestWithParam<Case> {};

TEST_P(Lif2, WPT_MT_14_parts_when_destroyed_in_each_of_the_120_orders_then_nothing_is_left) {
  using enum Piece;
  Order order{signal, controller, scheduler, promise, host};
  int orders = 0;
  do {
    Parts parts(GetParam().task_is, GetParam().where);
    for (const Piece piece : order) parts.destroy(piece);
    EXPECT_EQ(parts.probe.use_count(), 1);
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(orders, 120);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto where : {Host::embedded_loop, Host::agent}) {
    for (const auto task_is :
         {TaskIs::not_posted, TaskIs::queued, TaskIs::delayed, TaskIs::done,
          TaskIs::waiting_for_a_promise, TaskIs::aborted, TaskIs::fire_and_forget}) {
      cases.push_back({task_is, where});
    }
  }
  return cases;
}

std::string name_of(const testing::TestParamInfo<Case>& test) {
  const char* const tasks[] = {
      "not_posted", "queued",         "delayed", "done", "waiting_for_a_promise",
      "aborted",    "fire_and_forget"};
  return std::string(test.param.where == Host::agent ? "agent_" : "loop_") +
         tasks[static_cast<int>(test.param.task_is)];
}

INSTANTIATE_TEST_SUITE_P(All, Lif2, testing::ValuesIn(all_cases()), name_of);

// A signal that outlives its agent still works.
TEST(Lif2Signal, WPT_DET_04_signal_when_its_agent_is_gone_then_still_aborts_and_changes_priority) {
  TaskController controller;
  {
    const Agent agent;
    agent.scheduler().post_task([] {}, {.signal = controller.signal()}).get();
  }
  int changes = 0;
  const auto subscription = controller.signal().on_priority_change([&changes] { ++changes; });
  controller.set_priority(TaskPriority::background);
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(controller.signal().priority(), TaskPriority::background);
  controller.abort();
  EXPECT_TRUE(controller.signal().aborted());
}

TEST(Lif2Signal, signal_when_made_by_a_task_of_an_agent_that_is_gone_then_works_elsewhere) {
  std::optional<TaskController> controller;
  {
    const Agent agent;
    agent.scheduler().post_task([&controller] { controller.emplace(); }).get();
  }
  EventLoop loop(test::on_virtual_clock());
  const auto promise = loop.scheduler().post_task([] {}, {.signal = controller->signal()});
  controller->abort();
  EXPECT_TRUE(test::is<AbortError>(promise.reason()));
}

TEST(Lif2Scheduler, scheduler_when_its_agent_is_gone_then_posting_is_refused) {
  auto agent = std::make_optional<Agent>();
  const Scheduler scheduler = agent->scheduler();
  agent.reset();
  EXPECT_FALSE(scheduler.post([] {}));
  EXPECT_TRUE(test::is<InvalidStateError>(scheduler.post_task([] {}).reason()));
}

TEST(Lif2Promise, promise_when_its_agent_is_gone_then_keeps_its_value) {
  auto agent = std::make_optional<Agent>();
  const auto promise = agent->scheduler().post_task([] { return std::string("kept"); });
  promise.get();
  agent.reset();
  EXPECT_EQ(promise.get(), "kept");
}

}  // namespace
}  // namespace heist
