#include "heist/task/task_queues.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <vector>

namespace HEIST_NAMESPACE::detail {
namespace {

using testing::ElementsAre;

constexpr LoopNodeOps no_ops{};

struct TestTask : SchedulerTask {
  explicit TestTask(std::uint64_t order) : SchedulerTask(no_ops, false) { key = order; }
};

constexpr int level_of(TaskPriority priority) { return effective_priority(priority, false); }
constexpr int background_level = level_of(TaskPriority::background);
constexpr int user_visible_level = level_of(TaskPriority::user_visible);
constexpr int user_blocking_level = level_of(TaskPriority::user_blocking);

/// Queues whose tasks are known by their enqueue order: 1, 2, 3...
class TaskQueuesFixture : public testing::Test {
 protected:
  TestTask& push(int level) {
    TestTask& task = make_task();
    task.priority = static_cast<TaskPriority>(level / 2);
    task.is_continuation = level % 2 != 0;
    queues.push(task);
    return task;
  }
  TestTask& push(DynamicQueue& queue, int level) {
    TestTask& task = make_task();
    queues.push_dynamic(task, queue, level);
    return task;
  }

  /// Orders of all tasks, as they are popped.
  std::vector<std::uint64_t> pop_all() {
    std::vector<std::uint64_t> orders;
    while (const SchedulerTask* task = queues.pop()) {
      EXPECT_EQ(task->place, TaskPlace::elsewhere);
      orders.push_back(task->key);
    }
    EXPECT_TRUE(queues.empty());
    EXPECT_EQ(queues.size(), 0U);
    EXPECT_EQ(queues.top_level(), -1);
    return orders;
  }

  TaskQueues queues;

 private:
  TestTask& make_task() { return tasks_.emplace_back(tasks_.size() + 1); }

  std::deque<TestTask> tasks_;
};

class TaskQueuesPri1 : public TaskQueuesFixture {};

// Rule: PRI-1
TEST_F(TaskQueuesPri1, pop_when_empty_then_null) {
  EXPECT_EQ(queues.pop(), nullptr);
  EXPECT_EQ(queues.top_level(), -1);
}

// Rule: PRI-1, ORD-3
TEST_F(TaskQueuesPri1,
       WPT_SP_01_pop_when_all_six_levels_then_the_highest_first_and_fifo_within_each) {
  for (int round = 0; round < 2; ++round) {
    for (int level = 0; level < level_count; ++level) push(level);
  }
  EXPECT_EQ(queues.size(), 12U);
  EXPECT_THAT(pop_all(), ElementsAre(6, 12, 5, 11, 4, 10, 3, 9, 2, 8, 1, 7));
}

// Rule: PRI-1
TEST_F(TaskQueuesPri1, top_level_when_levels_fill_and_empty_then_the_highest_occupied) {
  TestTask& low = push(1);
  EXPECT_EQ(queues.top_level(), 1);
  TestTask& high = push(4);
  EXPECT_EQ(queues.top_level(), 4);
  queues.erase(high, nullptr);
  EXPECT_EQ(queues.top_level(), 1);
  queues.erase(low, nullptr);
  EXPECT_EQ(queues.top_level(), -1);
}

class TaskQueuesPri4 : public TaskQueuesFixture {
 protected:
  DynamicQueue a;
  DynamicQueue b;
  DynamicQueue c;
};

// Rule: PRI-4, ORD-3
TEST_F(TaskQueuesPri4, WPT_SP_02_pop_when_queues_share_a_level_then_the_oldest_first_task_wins) {
  push(a, user_visible_level);
  push(b, user_visible_level);
  push(user_visible_level);
  push(c, user_visible_level);
  push(a, user_visible_level);
  push(b, user_visible_level);
  push(user_visible_level);
  EXPECT_THAT(pop_all(), ElementsAre(1, 2, 3, 4, 5, 6, 7));
}

// Rule: PRI-4
TEST_F(TaskQueuesPri4, WPT_PRI_05_move_when_up_then_the_queue_merges_by_age) {
  push(user_visible_level);
  push(a, background_level);
  push(user_visible_level);
  push(a, background_level);
  push(background_level);
  queues.move(a, user_visible_level);
  EXPECT_THAT(pop_all(), ElementsAre(1, 2, 3, 4, 5));
}

// Rule: PRI-4
TEST_F(TaskQueuesPri4, move_when_down_then_the_queue_merges_by_age) {
  push(background_level);
  push(a, user_blocking_level);
  push(background_level);
  push(a, user_blocking_level);
  push(user_visible_level);
  queues.move(a, background_level);
  EXPECT_THAT(pop_all(), ElementsAre(5, 1, 2, 3, 4));
}

// Rule: PRI-4
TEST_F(TaskQueuesPri4, move_when_several_queues_meet_then_all_merge_by_age) {
  push(a, background_level);
  push(b, user_visible_level);
  push(c, user_blocking_level);
  push(b, user_visible_level);
  push(a, background_level);
  queues.move(a, user_blocking_level);
  queues.move(b, user_blocking_level);
  EXPECT_THAT(pop_all(), ElementsAre(1, 2, 3, 4, 5));
}

// Rule: PRI-4
TEST_F(TaskQueuesPri4, move_when_the_level_is_the_same_then_nothing_changes) {
  push(a, user_visible_level);
  push(user_visible_level);
  queues.move(a, user_visible_level);
  EXPECT_EQ(queues.size(), 2U);
  EXPECT_THAT(pop_all(), ElementsAre(1, 2));
}

// Rule: PRI-4
TEST_F(TaskQueuesPri4, relevel_when_each_queue_has_a_new_level_then_all_are_where_it_says) {
  push(a, background_level);
  push(b, user_visible_level);
  push(c, user_blocking_level);
  push(user_visible_level);
  const std::map<DynamicQueue*, int> levels{
      {&a, user_blocking_level}, {&b, background_level}, {&c, user_visible_level}};
  queues.relevel([&](DynamicQueue& queue) { return levels.at(&queue); });
  EXPECT_EQ(a.level(), user_blocking_level);
  EXPECT_EQ(queues.size(), 4U);
  EXPECT_THAT(pop_all(), ElementsAre(1, 3, 4, 2));
}

class TaskQueuesOrd6 : public TaskQueuesFixture {
 protected:
  DynamicQueue a;
  DynamicQueue b;
};

// Rule: ORD-6
TEST_F(TaskQueuesOrd6, WPT_SP_03_pop_when_a_queue_runs_empty_then_it_leaves_its_level) {
  push(a, user_blocking_level);
  push(b, background_level);
  EXPECT_EQ(queues.pop()->key, 1U);
  EXPECT_EQ(queues.top_level(), background_level);
  EXPECT_THAT(pop_all(), ElementsAre(2));
}

// Rule: ORD-6
TEST_F(TaskQueuesOrd6, WPT_SP_03_erase_when_it_empties_a_queue_then_only_that_queue_leaves) {
  TestTask& only = push(a, user_visible_level);
  push(b, user_visible_level);
  queues.erase(only, &a);
  EXPECT_EQ(queues.size(), 1U);
  EXPECT_THAT(pop_all(), ElementsAre(2));
}

// Rule: ORD-6
TEST_F(TaskQueuesOrd6, move_when_the_queue_is_empty_then_nothing_enters) {
  queues.move(a, user_blocking_level);
  EXPECT_TRUE(queues.empty());
  push(a, background_level);
  EXPECT_NE(queues.pop(), nullptr);
  queues.move(a, user_blocking_level);
  EXPECT_TRUE(queues.empty());
  EXPECT_EQ(queues.top_level(), -1);
}

// Rule: ORD-6
TEST_F(TaskQueuesOrd6, push_when_the_queue_was_emptied_then_it_enters_at_the_given_level) {
  push(a, background_level);
  EXPECT_NE(queues.pop(), nullptr);
  push(user_visible_level);
  push(a, user_blocking_level);
  EXPECT_THAT(pop_all(), ElementsAre(3, 2));
}

// Rule: ORD-6
TEST_F(TaskQueuesOrd6, erase_when_first_middle_or_last_then_the_others_keep_their_order) {
  TestTask& first = push(a, user_visible_level);
  push(a, user_visible_level);
  TestTask& middle = push(a, user_visible_level);
  push(b, user_visible_level);
  push(a, user_visible_level);
  TestTask& last = push(a, user_visible_level);
  queues.erase(middle, &a);
  queues.erase(last, &a);
  queues.erase(first, &a);
  EXPECT_THAT(pop_all(), ElementsAre(2, 4, 5));
}

// Rule: ORD-6
TEST_F(TaskQueuesOrd6, erase_when_from_a_static_queue_then_the_others_keep_their_order) {
  TestTask& first = push(user_visible_level);
  push(user_visible_level);
  TestTask& middle = push(user_visible_level);
  push(user_visible_level);
  TestTask& last = push(user_visible_level);
  for (TestTask* task : {&middle, &first, &last}) queues.erase(*task, nullptr);
  EXPECT_THAT(pop_all(), ElementsAre(2, 4));
}

/// What TaskQueues should do, the slow way: one flat list.
class QueuesModel {
 public:
  struct Entry {
    SchedulerTask* task;
    std::optional<std::size_t> queue;  ///< or static
    int static_level = 0;
  };

  void push(SchedulerTask& task, int level) { entries_.push_back({&task, std::nullopt, level}); }
  void push(SchedulerTask& task, std::size_t queue, int level) {
    if (!holds(queue)) levels_[queue] = level;
    entries_.push_back({&task, queue});
  }
  void move(std::size_t queue, int level) {
    if (holds(queue)) levels_[queue] = level;
  }
  SchedulerTask* pop() {
    const auto best = std::ranges::max_element(entries_, [&](const Entry& x, const Entry& y) {
      if (level_of(x) != level_of(y)) return level_of(x) < level_of(y);
      return x.task->key > y.task->key;
    });
    if (best == entries_.end()) return nullptr;
    SchedulerTask* task = best->task;
    entries_.erase(best);
    return task;
  }
  Entry take(std::size_t position) {
    const Entry entry = entries_[position];
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(position));
    return entry;
  }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] int top_level() const {
    int top = -1;
    for (const Entry& entry : entries_) top = std::max(top, level_of(entry));
    return top;
  }

 private:
  [[nodiscard]] bool holds(std::size_t queue) const {
    return std::ranges::any_of(entries_, [&](const Entry& e) { return e.queue == queue; });
  }
  [[nodiscard]] int level_of(const Entry& entry) const {
    return entry.queue ? levels_.at(*entry.queue) : entry.static_level;
  }

  std::vector<Entry> entries_;
  std::map<std::size_t, int> levels_;
};

/// Random operations on queues and model alike; the parameter is the seed.
class TaskQueuesModel : public testing::TestWithParam<unsigned> {
 protected:
  static constexpr std::size_t queue_count = 9;

  std::size_t any(std::size_t count) { return random_() % count; }
  int any_level() { return static_cast<int>(any(level_count)); }

  TestTask& make_task() { return tasks_.emplace_back(tasks_.size() + 1); }

  void push_static() {
    TestTask& task = make_task();
    const int level = any_level();
    task.priority = static_cast<TaskPriority>(level / 2);
    task.is_continuation = level % 2 != 0;
    queues_.push(task);
    model_.push(task, level);
  }
  void push_dynamic() {
    TestTask& task = make_task();
    const std::size_t queue = any(queue_count);
    const int level = any_level();
    queues_.push_dynamic(task, dynamic_[queue], level);
    model_.push(task, queue, level);
  }
  void pop() { ASSERT_EQ(queues_.pop(), model_.pop()); }
  void erase() {
    if (model_.size() == 0) return;
    const auto entry = model_.take(any(model_.size()));
    queues_.erase(*entry.task, entry.queue ? &dynamic_[*entry.queue] : nullptr);
  }
  void move() {
    const std::size_t queue = any(queue_count);
    const int level = any_level();
    queues_.move(dynamic_[queue], level);
    model_.move(queue, level);
  }
  void relevel() {
    std::array<int, queue_count> levels{};
    for (std::size_t queue = 0; queue < queue_count; ++queue) {
      levels[queue] = any_level();
      model_.move(queue, levels[queue]);
    }
    queues_.relevel([&](DynamicQueue& queue) {
      return levels[static_cast<std::size_t>(&queue - dynamic_.data())];
    });
  }

  void step(bool growing) {
    const std::size_t dice = any(100);
    if (dice < (growing ? 20U : 8U)) return push_static();
    if (dice < (growing ? 60U : 24U)) return push_dynamic();
    if (dice < 80) return pop();
    if (dice < 88) return erase();
    if (dice < 99) return move();
    relevel();
  }
  void check() {
    ASSERT_EQ(queues_.size(), model_.size());
    ASSERT_EQ(queues_.empty(), model_.size() == 0);
    ASSERT_EQ(queues_.top_level(), model_.top_level());
  }

  std::mt19937 random_{GetParam()};
  TaskQueues queues_;
  std::array<DynamicQueue, queue_count> dynamic_;
  QueuesModel model_;
  std::deque<TestTask> tasks_;
};
INSTANTIATE_TEST_SUITE_P(Seeds, TaskQueuesModel, testing::Range(1U, 21U));

// Rule: ORD-3, ORD-6, PRI-1, PRI-4
TEST_P(TaskQueuesModel, operations_when_random_then_as_the_reference_model) {
  for (int i = 0; i < 3000; ++i) {
    step(i / 300 % 2 == 0);
    check();
    ASSERT_FALSE(HasFatalFailure()) << "seed " << GetParam() << ", step " << i;
  }
  while (model_.size() != 0) pop();
  check();
}

/// Dynamic queues of one task each, whose age can be changed at will.
class QueueIndexPri5 : public testing::Test {
 protected:
  struct Member {
    TestTask task{0};
    DynamicQueue queue;
  };

  Member& make(std::uint64_t age) {
    Member& member = members_.emplace_back();
    member.task.key = age;
    member.queue.tasks.push_back(member.task);
    return member;
  }
  std::vector<std::uint64_t> drain() {
    std::vector<std::uint64_t> ages;
    while (DynamicQueue* top = index.top()) {
      ages.push_back(top->tasks.front()->key);
      index.erase(*top);
    }
    return ages;
  }

  [[nodiscard]] std::optional<std::uint64_t> age_of_top() const {
    if (index.top() == nullptr) return std::nullopt;
    return index.top()->tasks.front()->key;
  }
  static std::optional<std::uint64_t> oldest_of(const std::vector<Member*>& members) {
    std::optional<std::uint64_t> oldest;
    for (const Member* member : members) {
      oldest = std::min(oldest.value_or(member->task.key), member->task.key);
    }
    return oldest;
  }

  QueueIndex index;

 private:
  std::deque<Member> members_;
};

// Rule: PRI-5
TEST_F(QueueIndexPri5, top_when_empty_then_null) { EXPECT_EQ(index.top(), nullptr); }

// Rule: PRI-5
TEST_F(QueueIndexPri5, top_when_queues_come_in_any_order_then_the_oldest) {
  for (const std::uint64_t age : {5U, 2U, 8U, 1U, 9U, 3U}) index.insert(make(age).queue);
  EXPECT_THAT(drain(), ElementsAre(1, 2, 3, 5, 8, 9));
}

// Rule: PRI-5
TEST_F(QueueIndexPri5, changed_when_the_top_got_younger_then_another_is_top) {
  Member& a = make(1);
  index.insert(a.queue);
  index.insert(make(2).queue);
  index.insert(make(4).queue);
  a.task.key = 3;
  index.changed(a.queue);
  EXPECT_THAT(drain(), ElementsAre(2, 3, 4));
}

// Rule: PRI-5, ORD-6
TEST_F(QueueIndexPri5, erase_when_an_inner_queue_then_all_others_stay) {
  std::vector<Member*> members;
  for (std::uint64_t age = 1; age <= 8; ++age) members.push_back(&make(age));
  for (Member* member : members) index.insert(member->queue);
  index.erase(members[0]->queue);  // the rest is a tree of some depth now
  index.erase(members[4]->queue);
  index.erase(members[1]->queue);
  EXPECT_THAT(drain(), ElementsAre(3, 4, 6, 7, 8));
}

// Rule: PRI-5, ORD-6
TEST_F(QueueIndexPri5, operations_when_random_then_top_is_the_least_of_the_reference_set) {
  std::mt19937 random(7);  // NOLINT(bugprone-random-generator-seed): repeatable
  std::vector<Member*> outside;
  std::vector<Member*> inside;
  for (int i = 0; i < 40; ++i) outside.push_back(&make(0));
  std::uint64_t next_age = 1;
  const auto take = [&](std::vector<Member*>& from) {
    std::swap(from[random() % from.size()], from.back());
    Member* member = from.back();
    from.pop_back();
    return member;
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t dice = random() % 6;
    if (dice < 3 && !outside.empty()) {
      Member* member = take(outside);
      member->task.key = next_age++ + random() % 200;
      index.insert(member->queue);
      inside.push_back(member);
    } else if (dice < 5 && !inside.empty()) {
      outside.push_back(take(inside));
      index.erase(outside.back()->queue);
    } else if (!inside.empty()) {
      Member& member = *inside[random() % inside.size()];
      member.task.key += 1 + random() % 200;
      index.changed(member.queue);
    }
    ASSERT_EQ(age_of_top(), oldest_of(inside)) << "step " << i;
  }
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
