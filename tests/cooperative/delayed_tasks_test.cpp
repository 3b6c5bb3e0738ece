// The order in which delayed tasks come, against a sorted set. Rule: COOP-1.
#include <gtest/gtest.h>

#include <heist/cooperative_callback.hpp>
#include <heist/event_loop.hpp>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "heist/cooperative/cooperative_core.hpp"
#include "heist/cooperative/delayed_tasks.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

class NoHost final : public CooperativeHost {
 public:
  void post_message() noexcept override {}
  void set_timeout(Milliseconds /*delay*/) noexcept override {}
  void clear_timeout() noexcept override {}
  [[nodiscard]] Milliseconds now() const noexcept override { return {}; }
};

struct Earlier {
  bool operator()(const CooperativeTaskNode* a, const CooperativeTaskNode* b) const {
    return starts_before(*a, *b);
  }
};

class DelayedTasksTest : public ::testing::Test {
 protected:
  void insert(Milliseconds start, Milliseconds now) {
    auto task = std::make_unique<CooperativeTaskNode>(*core_, CooperativePriority::normal,
                                                      CooperativeCallback());
    task->key = all_.size();
    task->start = start;
    delayed_.insert(*task, now);
    expected_.insert(task.get());
    all_.push_back(std::move(task));
  }
  void erase(CooperativeTaskNode& task) {
    delayed_.erase(task);
    expected_.erase(&task);
  }
  void erase_any(std::size_t number) {
    if (!expected_.empty()) erase(**std::next(expected_.begin(), long(number % expected_.size())));
  }
  void expect_first() const {
    ASSERT_EQ(delayed_.top(), expected_.empty() ? nullptr : *expected_.begin());
  }
  void expect_all_in_order() {
    for (; !expected_.empty(); erase(**expected_.begin())) expect_first();
    expect_first();
  }

  NoHost host_;
  Ref<CooperativeCore> core_ = CooperativeCore::make(host_);
  DelayedTasks delayed_;
  std::set<CooperativeTaskNode*, Earlier> expected_;
  std::vector<std::unique_ptr<CooperativeTaskNode>> all_;
};

TEST_F(DelayedTasksTest, tasks_when_inserted_and_erased_at_random_then_the_first_is_right) {
  std::mt19937_64 random(7);
  double now = 0;
  for (int step = 0; step < 20'000; ++step) {
    const auto drawn = random();
    const double range = double(std::uint64_t{1} << (drawn >> 8U) % 44) / 1000;
    if (drawn % 8 < 5)
      insert(Milliseconds(now + double(drawn >> 40U) * range / 1e6), Milliseconds(now));
    if (drawn % 8 == 5) erase_any(drawn >> 16U);
    if (drawn % 8 > 5 && !expected_.empty()) {
      now = std::max(now, (*expected_.begin())->start.count());
      erase(**expected_.begin());
    }
    expect_first();
  }
  expect_all_in_order();
}

TEST_F(DelayedTasksTest, tasks_when_many_start_at_close_times_then_in_their_order) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 5'000; ++i) {
    insert(Milliseconds(10 + double(random() % 1000) / 3000), Milliseconds(0));
  }
  expect_all_in_order();
}

TEST_F(DelayedTasksTest, tasks_when_starts_are_beyond_any_count_then_in_their_order) {
  constexpr double never = std::numeric_limits<double>::infinity();
  for (const double start : {never, -1e300, 1e300, -5.0, never, 1e13, 2e13, -5.0, 3.0, 1e12}) {
    insert(Milliseconds(start), Milliseconds(-1e6));
  }
  expect_all_in_order();
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
