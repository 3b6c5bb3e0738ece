// A whole loop against a simple model: random posts, delays, priority changes, aborts and picks.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "support/virtual_loop_fixture.hpp"

namespace heist {
namespace {

using namespace support;  // NOLINT(google-build-using-namespace): the whole of it is for tests
using std::chrono::milliseconds;

/// What a loop should do, the slow way: one flat list, searched at every pick.
class LoopModel {
 public:
  struct Task {
    int id;
    std::optional<std::size_t> signal;
    std::optional<TaskPriority> fixed;
    milliseconds due;
    std::uint64_t order;  ///< of posting while delayed, then of becoming runnable
    bool runnable;
  };

  explicit LoopModel(std::size_t signals) : priorities(signals, user_visible) {}

  void post(int id, std::optional<std::size_t> signal, std::optional<TaskPriority> fixed,
            milliseconds delay) {
    tasks.push_back({id, signal, fixed, now + delay, next_order_++, delay.count() <= 0});
  }
  void abort(std::size_t signal) {
    std::erase_if(tasks, [&](const Task& task) { return task.signal == signal; });
  }
  /// The next task of the clock's present; none: time must pass.
  std::optional<int> pick() {
    expire();
    const auto best = std::ranges::max_element(tasks, [&](const Task& a, const Task& b) {
      if (a.runnable != b.runnable) return b.runnable;
      if (priority_of(a) != priority_of(b)) return priority_of(a) < priority_of(b);
      return a.order > b.order;
    });
    if (best == tasks.end() || !best->runnable) return std::nullopt;
    const int id = best->id;
    tasks.erase(best);
    return id;
  }
  /// Everything that runs until `end`, in order.
  std::vector<int> advance(milliseconds end) {
    std::vector<int> ran;
    for (;;) {
      while (const auto id = pick()) ran.push_back(*id);
      const auto next = std::ranges::min_element(tasks, {}, &Task::due);
      if (next == tasks.end() || next->due > end) break;
      now = next->due;
    }
    now = end;
    return ran;
  }

  std::vector<TaskPriority> priorities;
  std::vector<Task> tasks;
  milliseconds now{};

 private:
  void expire() {
    std::vector<Task*> due;
    for (Task& task : tasks) {
      if (!task.runnable && task.due <= now) due.push_back(&task);
    }
    std::ranges::sort(due, [](const Task* a, const Task* b) {
      return a->due != b->due ? a->due < b->due : a->order < b->order;
    });
    for (Task* task : due) {
      task->order = next_order_++;
      task->runnable = true;
    }
  }
  [[nodiscard]] TaskPriority priority_of(const Task& task) const {
    if (task.fixed) return *task.fixed;
    return task.signal ? priorities[*task.signal] : user_visible;
  }

  std::uint64_t next_order_ = 1;
};

/// The parameter is the seed.
class LoopModelTest : public VirtualLoopFixture, public testing::WithParamInterface<unsigned> {
 protected:
  static constexpr std::size_t signal_count = 4;

  LoopModelTest() {
    for (auto& each : controllers_) each = std::make_unique<TaskController>();
  }

  std::size_t any(std::size_t count) { return random_() % count; }
  TaskPriority any_priority() { return static_cast<TaskPriority>(any(3)); }

  /// In a task, between calls of the loop, or on another thread.
  void somewhere(const std::function<void()>& work) {
    const auto dice = any(10);
    from(dice == 0 ? Origin::task : dice == 1 ? Origin::other_thread : Origin::driver, work);
  }

  void post_one() {
    const int id = next_id_++;
    const bool has_signal = any(4) != 0;
    const bool is_fixed = any(3) == 0;
    const milliseconds delay(any(3) == 0 ? static_cast<int>(any(200)) : 0);
    const std::size_t signal = any(signal_count);
    PostTaskOptions options{.delay = delay};
    if (has_signal) options.signal = controllers_[signal]->signal();
    if (is_fixed) options.priority = any_priority();
    auto callback = tracked([this, id] { ran_.push_back(id); });
    const bool with_promise = any(2) == 0;
    somewhere([&] {
      if (with_promise) {
        promises_.emplace(id, scheduler.post_task(std::move(callback), options));
      } else {
        scheduler.post(std::move(callback), options);
      }
    });
    model_.post(id, has_signal ? std::optional(signal) : std::nullopt, options.priority, delay);
  }
  void set_priority() {
    const std::size_t signal = any(signal_count);
    model_.priorities[signal] = any_priority();
    somewhere([&] { controllers_[signal]->set_priority(model_.priorities[signal]); });
  }
  void abort() {
    const std::size_t signal = any(signal_count);
    somewhere([&] { controllers_[signal]->abort(); });
    model_.abort(signal);
    model_.priorities[signal] = any_priority();
    controllers_[signal] = std::make_unique<TaskController>(model_.priorities[signal]);
  }
  void pick() {
    const auto expected = model_.pick();
    if (!expected) {
      EXPECT_EQ(loop.poll(), 0U);
    } else if (loop.run_one()) {
      expect_ran({*expected});
    }
  }
  void advance(milliseconds duration) {
    loop.advance(duration);
    expect_ran(model_.advance(model_.now + duration));
  }
  void expect_ran(const std::vector<int>& expected) {
    ASSERT_EQ(ran_, expected);
    all_ran_.insert(ran_.begin(), ran_.end());
    ran_.clear();
  }
  void step() {
    const auto dice = any(100);
    if (dice < 50) return post_one();
    if (dice < 65) return set_priority();
    if (dice < 68) return abort();
    if (dice < 96) return pick();
    advance(milliseconds(any(60)));
  }

  std::mt19937 random_{GetParam()};
  LoopModel model_{signal_count};
  std::array<std::unique_ptr<TaskController>, signal_count> controllers_;
  std::map<int, Promise<void>> promises_;
  std::vector<int> ran_;
  std::set<int> all_ran_;
  int next_id_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Seeds, LoopModelTest, testing::Range(1U, 31U));

// Rule: ORD-2, ORD-3, ORD-4, PRI-2, PRI-3, PRI-4, ABT-2, DLY-2, DLY-4
TEST_P(LoopModelTest, loop_when_used_at_random_then_runs_tasks_as_the_reference_model) {
  for (int i = 0; i < 600; ++i) {
    step();
    ASSERT_FALSE(HasFailure()) << "seed " << GetParam() << ", step " << i;
  }
  advance(milliseconds(1000));
  EXPECT_TRUE(model_.tasks.empty());
  for (const auto& [id, promise] : promises_) {
    ASSERT_EQ(promise.status(),
              all_ran_.contains(id) ? PromiseStatus::fulfilled : PromiseStatus::rejected)
        << "task " << id;
  }
}

}  // namespace
}  // namespace heist
