#include "support/cluster_loop.hpp"

#include <gtest/gtest.h>

#include <heist/detail/node_memory.hpp>
#include <heist/detail/posted_task.hpp>
#include <utility>

#include "heist/loop/loop_core.hpp"

namespace heist::support {

using namespace detail;

namespace {

const testing::TestPartResult skipped(testing::TestPartResult::kSkip, __FILE__, __LINE__, "");

bool is_idle(LoopCore& core) {
  const AgentState& agent = core.on_agent();
  core.take_inbox();
  return agent.queues.empty() && !core.aborted().has_tasks();
}

}  // namespace

void skip_test(const char* why) {
  GTEST_MESSAGE_AT_(__FILE__, __LINE__, why, skipped.type());
  throw testing::AssertionException(skipped);
}

void Hold::serve() {
  std::unique_lock lock(mutex_);
  holds_ = true;
  changed_.notify_all();
  while (holds_) {
    changed_.wait(lock, [this] { return !holds_ || work_ != nullptr; });
    if (work_ != nullptr) {
      work_();
      work_ = nullptr;
      changed_.notify_all();
    }
  }
}

void Hold::run(std::function<void()> work) {
  std::unique_lock lock(mutex_);
  work_ = std::move(work);
  changed_.notify_all();
  changed_.wait(lock, [this] { return work_ == nullptr; });
}

void Hold::release() {
  const std::lock_guard lock(mutex_);
  holds_ = false;
  changed_.notify_all();
}

void Hold::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return holds_; });
}

ClusterLoop::ClusterLoop(unsigned agents)
    : cluster_({.agents = agents, .reserves = 0}),
      scheduler_(cluster_.size() == 1 ? cluster_.scheduler() : first_.scheduler()) {
  first_.scheduler().post([this] { hold_.serve(); });
  hold_.wait();
  own_.emplace(create_scheduler());
}

/// What is left is dropped, because the objects to which the tasks of a skipped test refer are
/// gone.
ClusterLoop::~ClusterLoop() {
  CloseMode at_once = CloseMode::abort();
  at_once.deadline = std::chrono::steady_clock::now();
  static_cast<void>(cluster_.close(at_once));  // returns although a task holds the agent
  hold_.release();
  // What is dropped may use this object, so its other parts wait for that.
  static_cast<void>(cluster_.close(CloseMode::abort()));
}

Scheduler ClusterLoop::create_scheduler() {
  SchedulerCore* made = nullptr;
  on_agent([&made](LoopCore& loop) { made = &loop.add_scheduler(); });
  return Access::make<Scheduler>(Access::home(scheduler_), made);
}

std::size_t ClusterLoop::run_until_idle() {
  if (Agent::current() == &first_) skip_test("runs the loop within a task");
  std::uint64_t before = 0;
  hold_.run([&] {
    before = first_.stats().tasks_run - looks_;
    hold_when_idle();
  });
  hold_.release();
  hold_.wait();
  // A task may have skipped the test.
  if (testing::Test::IsSkipped()) throw testing::AssertionException(skipped);
  std::uint64_t after = 0;
  hold_.run([&] { after = first_.stats().tasks_run - looks_; });
  return after - before;
}

/// Posts a task of the lowest level. What is queued comes first, and may post more.
void ClusterLoop::hold_when_idle() {
  own_->post(
      [this] {
        ++looks_;
        if (is_idle(core())) return hold_.serve();
        hold_when_idle();
      },
      {.priority = TaskPriority::background});
}

void ClusterLoop::run_most_urgent() {
  hold_.run([this] { hold_next(); });
  hold_.release();
  hold_.wait();
}

/// Posts a task that holds the agent, behind the tasks that have the highest level of all now.
void ClusterLoop::hold_next() {
  const auto hold = [this] {
    ++looks_;
    hold_.serve();
  };
  auto& task = *make_node<PlainTask<decltype(hold)>>(hold);
  task.scheduler = Access::core(*own_);
  task.priority = TaskPriority::user_blocking;
  task.is_continuation = true;
  EXPECT_TRUE(core().post(task));
}

LoopCore& ClusterLoop::core() const noexcept { return *Access::home(scheduler_)->as_loop(); }

std::size_t ClusterLoop::pending() {
  std::size_t count = 0;
  on_agent([&count](LoopCore& loop) {
    const auto& agent = loop.on_agent();
    loop.take_inbox();
    count = agent.size();
  });
  return count;
}

void ClusterLoop::on_agent(const std::function<void(LoopCore&)>& work) {
  if (Agent::current() == &first_) return work(core());
  hold_.run([this, &work] { work(core()); });
}

}  // namespace heist::support
