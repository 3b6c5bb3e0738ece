// Rules: WAIT-1, WAIT-2, ORD-3. Random loads, with every pick compared to all that waits.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <heist/heist.hpp>
#include <random>
#include <vector>

#include "support/virtual_loop_fixture.hpp"

namespace heist::support {

using namespace detail;
namespace {

using std::chrono::nanoseconds;

/// What waits, the slow way: a list that each pick is compared to.
class WaitingTasks {
 public:
  struct Task {
    int id;
    TaskPriority priority;
    nanoseconds posted;
  };

  WaitingTasks(const MaxWait& most, nanoseconds longest) : most_(most), longest_(longest) {}

  void post(const Task& task) { tasks_.push_back(task); }
  /// In the order of posts: so the first of a priority is its oldest.
  void pick(int id, nanoseconds now) {
    const auto picked = std::ranges::find(tasks_, id, &Task::id);
    ASSERT_NE(picked, tasks_.end());
    const Task task = *picked;
    const auto same = std::ranges::find(tasks_, task.priority, &Task::priority);
    EXPECT_EQ(same->id, id) << "a younger one of its priority";
    tasks_.erase(picked);
    const bool is_late = now >= end_of(task);
    if (is_late) ++late_;
    for (const Task& other : tasks_) compare(task, is_late, other, now);
  }
  [[nodiscard]] int late() const { return late_; }

 private:
  void compare(const Task& task, bool is_late, const Task& other, nanoseconds now) const {
    const auto slack = slack_of(task) + slack_of(other);
    const bool is_other_late = now > end_of(other) + slack;
    if (!is_late) {
      EXPECT_FALSE(is_other_late) << other.id << " is late, not " << task.id;
      EXPECT_GE(task.priority, other.priority) << "neither is late";
    } else if (is_other_late) {
      // Marks of what has waited for long are thinned out.
      const auto rough = (now - std::min(task.posted, other.posted)) / 4;
      EXPECT_LE(end_of(task), end_of(other) + std::max(slack, rough)) << "which was late earlier";
    }
  }
  /// By how much it may be noticed too late: a sixteenth, and what runs meanwhile.
  [[nodiscard]] nanoseconds slack_of(const Task& task) const {
    return most_.of(task.priority) / 16 + 2 * longest_;
  }
  [[nodiscard]] nanoseconds end_of(const Task& task) const {
    return task.posted + most_.of(task.priority);
  }

  const MaxWait most_;
  const nanoseconds longest_;
  std::vector<Task> tasks_;
  int late_ = 0;
};

constexpr MaxWait most{.user_blocking = 8ms, .user_visible = 50ms, .background = 200ms};
constexpr nanoseconds longest = 2ms;

class MaxWaitLoads : public RuntimeFixture, public testing::WithParamInterface<unsigned> {
 protected:
  void post_some() {
    const std::uint64_t most_new = load_ == 0 ? 1 : 3;
    for (auto left = number(most_new); left > 0; --left) post_one();
    if (number(200) == 0) load_ = number(1);
  }
  void post_one() {
    if (posted_ == tasks) return;
    const int id = posted_++;
    const auto priority = static_cast<TaskPriority>(number(2));
    waiting_.post({id, priority, loop_.now()});
    scheduler_.post(
        [this, id] {
          waiting_.pick(id, loop_.now());
          loop_.spend(time(longest));
          post_some();
        },
        {.priority = priority});
  }
  nanoseconds time(nanoseconds most_time) {
    return nanoseconds(
        static_cast<std::int64_t>(number(static_cast<std::uint64_t>(most_time.count()))));
  }
  std::uint64_t number(std::uint64_t highest) {
    return std::uniform_int_distribution<std::uint64_t>(0, highest)(random_);
  }

  static constexpr int tasks = 3000;
  std::mt19937_64 random_{GetParam()};
  EventLoop loop_{{.clock = LoopClock::virtual_time, .max_wait = most}};
  Scheduler scheduler_ = loop_.scheduler();
  WaitingTasks waiting_{most, longest};
  int posted_ = 0;
  std::uint64_t load_ = 1;
};

TEST_P(MaxWaitLoads, picks_when_the_load_is_random_then_what_is_late_first_and_the_rest_in_order) {
  while (posted_ < tasks) {
    scheduler_.post([this] { post_one(); }, {.priority = user_blocking});
    loop_.run_until_idle();
    loop_.advance(time(20ms));
  }
  EXPECT_GT(waiting_.late(), tasks / 50) << "a test of nothing";
}

INSTANTIATE_TEST_SUITE_P(Seeds, MaxWaitLoads, testing::Range(1U, 21U));

}  // namespace
}  // namespace heist::support
