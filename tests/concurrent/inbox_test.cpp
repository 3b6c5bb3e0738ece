#include "heist/concurrent/inbox.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "support/threads.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using PostResult = Inbox::PostResult;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr LoopNodeOps no_ops{};

struct TestNode : LoopNode {
  explicit TestNode(int number) : LoopNode(no_ops), id(number) {}
  int id;
};

std::vector<int> ids_of(const LoopNode* node) {
  std::vector<int> ids;
  for (; node != nullptr; node = node->next) ids.push_back(static_cast<const TestNode*>(node)->id);
  return ids;
}

class InboxTest : public testing::Test {
 protected:
  TestNode& make_node() { return nodes_.emplace_back(static_cast<int>(nodes_.size()) + 1); }
  PostResult post() { return inbox.post(make_node()); }
  std::vector<int> take() { return ids_of(inbox.take()); }

  Inbox inbox;

 private:
  std::deque<TestNode> nodes_;
};

class InboxOrd2 : public InboxTest {};

// Rule: ORD-2
TEST_F(InboxOrd2, take_when_empty_then_nothing) {
  EXPECT_FALSE(inbox.has_posts());
  EXPECT_THAT(take(), IsEmpty());
}

// Rule: ORD-2
TEST_F(InboxOrd2, take_when_several_posts_then_all_of_them_oldest_first) {
  for (int i = 0; i < 4; ++i) EXPECT_EQ(post(), PostResult::posted);
  EXPECT_TRUE(inbox.has_posts());
  EXPECT_THAT(take(), ElementsAre(1, 2, 3, 4));
  EXPECT_FALSE(inbox.has_posts());
  EXPECT_THAT(take(), IsEmpty());
}

// Rule: ORD-2
TEST_F(InboxOrd2, take_when_repeated_then_each_post_comes_once) {
  post();
  EXPECT_THAT(take(), ElementsAre(1));
  post();
  post();
  EXPECT_THAT(take(), ElementsAre(2, 3));
}

// Rule: ORD-2
TEST_F(InboxOrd2, take_when_threads_took_turns_then_in_order_of_turns) {
  support::Worker a;
  support::Worker b;
  for (int i = 0; i < 3; ++i) {
    a.run([&] { post(); });
    b.run([&] { post(); });
  }
  EXPECT_THAT(take(), ElementsAre(1, 2, 3, 4, 5, 6));
}

class InboxSleep : public InboxTest {};

// Rule: ABT-4 (one wake-up), goal of one system call per idle-to-busy transition
TEST_F(InboxSleep, post_when_asleep_then_only_the_first_says_wake) {
  ASSERT_TRUE(inbox.try_sleep());
  EXPECT_EQ(post(), PostResult::wake);
  EXPECT_EQ(post(), PostResult::posted);
  EXPECT_THAT(take(), ElementsAre(1, 2));
  EXPECT_EQ(post(), PostResult::posted);
}

TEST_F(InboxSleep, try_sleep_when_something_was_posted_then_refused) {
  post();
  EXPECT_FALSE(inbox.try_sleep());
  EXPECT_THAT(take(), ElementsAre(1));
  EXPECT_TRUE(inbox.try_sleep());
}

TEST_F(InboxSleep, take_when_asleep_then_nothing_and_still_asleep) {
  ASSERT_TRUE(inbox.try_sleep());
  EXPECT_FALSE(inbox.has_posts());
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_EQ(post(), PostResult::wake);
}

TEST_F(InboxSleep, cancel_sleep_when_nobody_posted_then_awake_again) {
  ASSERT_TRUE(inbox.try_sleep());
  EXPECT_TRUE(inbox.cancel_sleep());
  EXPECT_EQ(post(), PostResult::posted);
}

TEST_F(InboxSleep, cancel_sleep_when_a_post_has_ended_it_then_refused_and_the_post_is_there) {
  ASSERT_TRUE(inbox.try_sleep());
  EXPECT_EQ(post(), PostResult::wake);
  EXPECT_FALSE(inbox.cancel_sleep());
  EXPECT_THAT(take(), ElementsAre(1));
}

TEST_F(InboxSleep, cancel_sleep_when_awake_then_refused) { EXPECT_FALSE(inbox.cancel_sleep()); }

class InboxClose : public InboxTest {};

// Rule: LIF-1
TEST_F(InboxClose, close_when_there_are_posts_then_gives_them_and_refuses_later_ones) {
  post();
  post();
  EXPECT_FALSE(inbox.is_closed());
  EXPECT_THAT(ids_of(inbox.close()), ElementsAre(1, 2));
  EXPECT_TRUE(inbox.is_closed());
  EXPECT_EQ(post(), PostResult::closed);
  EXPECT_FALSE(inbox.has_posts());
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_TRUE(inbox.is_closed());
}

// Rule: LIF-1
TEST_F(InboxClose, close_when_repeated_then_gives_nothing_more) {
  post();
  EXPECT_THAT(ids_of(inbox.close()), ElementsAre(1));
  EXPECT_THAT(ids_of(inbox.close()), IsEmpty());
}

// Rule: LIF-1
TEST_F(InboxClose, close_when_asleep_then_gives_nothing_and_nobody_is_woken) {
  ASSERT_TRUE(inbox.try_sleep());
  EXPECT_EQ(inbox.close(), nullptr);
  EXPECT_EQ(post(), PostResult::closed);
}

// Rule: LIF-1
TEST_F(InboxClose, sleep_when_closed_then_refused_and_it_stays_closed) {
  EXPECT_EQ(inbox.close(), nullptr);
  EXPECT_FALSE(inbox.try_sleep());
  EXPECT_FALSE(inbox.cancel_sleep());
  EXPECT_TRUE(inbox.is_closed());
}

/// Random calls on an inbox and on what it should be; the parameter is the seed.
class InboxModel : public InboxTest, public testing::WithParamInterface<unsigned> {
 protected:
  enum class State : std::uint8_t { awake, asleep, closed };

  void post_one() {
    TestNode& node = make_node();
    const PostResult result = inbox.post(node);
    const PostResult expected = state == State::closed   ? PostResult::closed
                                : state == State::asleep ? PostResult::wake
                                                         : PostResult::posted;
    ASSERT_EQ(result, expected);
    if (state == State::closed) return;
    state = State::awake;
    posted.push_back(node.id);
  }
  void take_all() {
    ASSERT_EQ(take(), posted);
    posted.clear();
  }
  void sleep() {
    if (state == State::asleep) return;  // the agent is awake when it calls this
    const bool may_sleep = state == State::awake && posted.empty();
    ASSERT_EQ(inbox.try_sleep(), may_sleep);
    if (may_sleep) state = State::asleep;
  }
  void cancel() {
    ASSERT_EQ(inbox.cancel_sleep(), state == State::asleep);
    if (state == State::asleep) state = State::awake;
  }
  void close() {
    ASSERT_EQ(ids_of(inbox.close()), posted);
    posted.clear();
    state = State::closed;
  }

  State state = State::awake;
  std::vector<int> posted;
};
INSTANTIATE_TEST_SUITE_P(Seeds, InboxModel, testing::Range(1U, 11U));

// Rule: ORD-2, LIF-1
TEST_P(InboxModel, calls_when_random_then_as_the_reference_model) {
  std::mt19937 random(GetParam());
  for (int i = 0; i < 2000; ++i) {
    const auto dice = random() % 1000;
    if (dice < 400) {
      post_one();
    } else if (dice < 600) {
      take_all();
    } else if (dice < 850) {
      sleep();
    } else if (dice < 999) {
      cancel();
    } else {
      close();
    }
    ASSERT_FALSE(HasFatalFailure()) << "seed " << GetParam() << ", step " << i;
    ASSERT_EQ(inbox.has_posts(), !posted.empty());
    ASSERT_EQ(inbox.is_closed(), state == State::closed);
  }
}

/// Posters on threads of their own, and an agent that takes and sleeps. The parameter is how many.
class InboxThreads : public testing::TestWithParam<int> {
 protected:
  static constexpr int posts_each = 5000;

  struct Poster {
    std::deque<TestNode> nodes;
    std::thread thread;
  };

  void start() {
    for (int i = 0; i < GetParam(); ++i) {
      Poster& poster = *posters.emplace_back(std::make_unique<Poster>());
      for (int n = 0; n < posts_each; ++n) poster.nodes.emplace_back(i * posts_each + n);
      poster.thread = std::thread([this, &poster] {
        for (TestNode& node : poster.nodes) {
          node.key = static_cast<std::uint64_t>(node.id);  // plain: the inbox must carry it
          if (inbox.post(node) == PostResult::wake) wakes.fetch_add(1);
        }
      });
    }
  }
  void join() {
    for (auto& poster : posters) poster->thread.join();
  }

  Inbox inbox;
  std::atomic<int> wakes{0};
  std::vector<std::unique_ptr<Poster>> posters;
};
INSTANTIATE_TEST_SUITE_P(Posters, InboxThreads, testing::Values(0, 1, 2, 4));

// Rule: ORD-2
TEST_P(InboxThreads, WPT_MT_01_take_when_many_post_then_every_node_once_and_each_posters_in_order) {
  start();
  std::vector<int> next(static_cast<std::size_t>(GetParam()), 0);
  int taken = 0;
  while (taken < GetParam() * posts_each) {
    for (const LoopNode* node = inbox.take(); node != nullptr; node = node->next) {
      const int id = static_cast<const TestNode*>(node)->id;
      EXPECT_EQ(node->key, static_cast<std::uint64_t>(id));
      EXPECT_EQ(id % posts_each, next[static_cast<std::size_t>(id / posts_each)]++);
      ++taken;
    }
  }
  join();
  EXPECT_FALSE(inbox.has_posts());
}

// Rule: ORD-2. Each sleep that a post ended has exactly one poster that was told to wake the agent.
TEST_P(InboxThreads, post_when_the_agent_sleeps_again_and_again_then_one_wake_for_each_sleep) {
  start();
  int ended_by_posts = 0;
  for (int taken = 0; taken < GetParam() * posts_each;) {
    for (const LoopNode* node = inbox.take(); node != nullptr; node = node->next) ++taken;
    if (inbox.try_sleep()) {
      if (!inbox.cancel_sleep()) ++ended_by_posts;
    }
  }
  join();
  EXPECT_EQ(wakes.load(), ended_by_posts);
}

// Rule: LIF-1
TEST_P(InboxThreads, close_when_many_post_then_each_node_is_either_given_or_refused) {
  std::atomic<int> refused{0};
  std::vector<std::thread> threads;
  std::vector<std::deque<TestNode>> nodes(static_cast<std::size_t>(GetParam()));
  std::atomic<int> posting{0};
  for (auto& own : nodes) {
    for (int n = 0; n < posts_each; ++n) own.emplace_back(n);
    threads.emplace_back([&] {
      for (TestNode& node : own) {
        posting.fetch_add(1);
        if (inbox.post(node) == PostResult::closed) refused.fetch_add(1);
      }
    });
  }
  support::wait_until([&] { return posting.load() >= GetParam() * 10; });
  const auto given = ids_of(inbox.close()).size();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(static_cast<int>(given) + refused.load(), GetParam() * posts_each);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
