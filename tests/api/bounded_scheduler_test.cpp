// Rule: LIF-5: a bounded scheduler refuses, or lets wait, what goes beyond its bound.
#include <gmock/gmock.h>

#include <heist/agent.hpp>
#include <heist/bounded_scheduler.hpp>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "api/probes.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace heist::support {

using namespace detail;
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class Lif5 : public VirtualLoopFixture {
 protected:
  template <class T>
  static void expect_full(const Promise<T>& promise) {
    ASSERT_EQ(promise.status(), PromiseStatus::rejected);
    EXPECT_THROW(promise.get(), QuotaExceededError);
  }
  /// Waits for room, and posts.
  Promise<void> post_in_line(std::string label) {
    auto room = co_await bounded.room();
    bounded.post(std::move(room), note(std::move(label)));
  }
  void post_a_line() {
    for (const char* label : {"a", "b", "c", "d", "e"}) {
      scheduler.post([this, label] { line.push_back(post_in_line(label)); },
                     {.priority = TaskPriority::user_blocking});
    }
  }

  BoundedScheduler bounded{scheduler, 2};
  std::vector<Promise<void>> line;
};

TEST_F(Lif5, post_when_it_is_full_then_refused) {
  EXPECT_EQ(bounded.post(note("1")), PostResult::posted);
  auto second = bounded.post_task(note("2"));
  expect_full(bounded.post_task(note("3")));
  EXPECT_EQ(bounded.post(note("4")), PostResult::full);
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("1", "2"));
  EXPECT_EQ(bounded.post(note("5")), PostResult::posted);
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("5"));
}

TEST_F(Lif5, post_when_a_task_has_started_then_its_place_is_free) {
  bounded.post([this] {
    EXPECT_EQ(bounded.post(note("2")), PostResult::posted);
    EXPECT_EQ(bounded.post(note("3")), PostResult::posted);
    EXPECT_EQ(bounded.post(note("4")), PostResult::full);
  });
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("2", "3"));
}

TEST_F(Lif5, post_when_delayed_then_it_counts) {
  bounded.post(note("1"), {.delay = 1s});
  bounded.post(note("2"), {.delay = 1s});
  EXPECT_EQ(bounded.post(note("3")), PostResult::full);
  loop.advance(1s);
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("1", "2"));
}

TEST_F(Lif5, post_when_of_a_copy_then_it_shares_the_bound) {
  const BoundedScheduler copy = bounded;
  copy.post(note("1"));
  bounded.post(note("2"));
  EXPECT_EQ(copy.post(note("3")), PostResult::full);
  loop.run_until_idle();
  EXPECT_FALSE(trace.take().empty());
}

TEST_F(Lif5, post_when_other_tasks_wait_then_they_do_not_count) {
  for (int i = 0; i < 10; ++i) scheduler.post([] {});
  EXPECT_EQ(bounded.post(note("1")), PostResult::posted);
  loop.run_until_idle();
  EXPECT_FALSE(trace.take().empty());
}

TEST_F(Lif5, abort_when_a_task_waits_then_its_place_is_free) {
  TaskController controller;
  auto first = bounded.post_task(note("never"), {.signal = controller.signal()});
  auto second = bounded.post_task(note("never"), {.signal = controller.signal()});
  controller.abort();
  loop.run_until_idle();
  EXPECT_EQ(bounded.post(note("1")), PostResult::posted);
  EXPECT_EQ(bounded.post(note("2")), PostResult::posted);
  EXPECT_EQ(bounded.post(note("3"), {.signal = controller.signal()}), PostResult::full);
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("1", "2"));
  EXPECT_EQ(bounded.post(note("4"), {.signal = controller.signal()}), PostResult::refused);
  EXPECT_EQ(bounded.post(note("5")), PostResult::posted);
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("5"));
}

TEST_F(Lif5, room_when_several_wait_then_all_get_one_in_their_order) {
  post_a_line();
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("a", "b", "c", "d", "e"));
  for (const auto& promise : line) EXPECT_EQ(promise.status(), PromiseStatus::fulfilled);
}

TEST_F(Lif5, post_when_others_wait_in_line_then_it_does_not_overtake_them) {
  post_a_line();
  scheduler.post([this] { EXPECT_EQ(bounded.post(note("late")), PostResult::full); },
                 {.priority = TaskPriority::user_blocking});
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("a", "b", "c", "d", "e"));
}

TEST_F(Lif5, room_when_nobody_uses_it_then_it_goes_to_the_next) {
  {
    auto unused = bounded.room();
    auto unused_too = bounded.room();
    EXPECT_EQ(unused.status(), PromiseStatus::fulfilled);
    auto waiting = bounded.room();
    EXPECT_EQ(waiting.status(), PromiseStatus::pending);
    unused = bounded.room();
    EXPECT_EQ(waiting.status(), PromiseStatus::fulfilled);
    EXPECT_EQ(unused.status(), PromiseStatus::pending);
  }
  EXPECT_EQ(bounded.post(note("1")), PostResult::posted);
  EXPECT_EQ(bounded.post(note("2")), PostResult::posted);
  loop.run_until_idle();
  EXPECT_FALSE(trace.take().empty());
}

TEST_F(Lif5, post_when_the_room_is_anothers_or_used_up_then_invalid_argument) {
  const BoundedScheduler other(scheduler, 1);
  EXPECT_THROW(bounded.post(other.room().get(), note("never")), std::invalid_argument);
  EXPECT_THROW(bounded.post(Room(), note("never")), std::invalid_argument);
  EXPECT_EQ(other.post(note("1")), PostResult::posted);
  loop.run_until_idle();
  EXPECT_FALSE(trace.take().empty());
}

TEST_F(Lif5, constructor_when_no_such_bound_then_invalid_argument) {
  EXPECT_THROW(BoundedScheduler(scheduler, 0), std::invalid_argument);
  EXPECT_THROW(BoundedScheduler(scheduler, (std::size_t{1} << 31) + 1), std::invalid_argument);
}

TEST_F(Lif5, post_task_when_the_callback_is_a_coroutine_then_its_place_is_free_when_it_starts) {
  auto first = bounded.post_task([this]() -> Promise<int> {
    co_await yield();
    EXPECT_EQ(bounded.post(note("other")), PostResult::posted);
    co_return 7;
  });
  loop.run_until_idle();
  EXPECT_EQ(first.get(), 7);
  EXPECT_THAT(trace.take(), ElementsAre("other"));
}

TEST_F(Lif5, close_when_some_wait_for_room_then_they_get_it_and_posts_are_refused) {
  bounded.post(note("never"), {.delay = 1h});
  bounded.post(note("never"), {.delay = 1h});
  auto room = bounded.room();
  loop.close(CloseMode::abort());
  ASSERT_EQ(room.status(), PromiseStatus::fulfilled);
  EXPECT_EQ(bounded.post(std::move(room).get(), note("never")), PostResult::refused);
  EXPECT_EQ(bounded.post_task(note("never")).status(), PromiseStatus::rejected);
}

TEST_F(Lif5, ceiling_when_the_scheduler_has_one_then_it_holds) {
  const BoundedScheduler client(scheduler.with_ceiling(TaskPriority::background), 2);
  client.post(note("client"), {.priority = TaskPriority::user_blocking});
  scheduler.post(note("server"));
  loop.run_until_idle();
  EXPECT_THAT(trace.take(), ElementsAre("server", "client"));
}

TEST(Lif5Threads, post_when_threads_and_waiters_compete_then_the_bound_holds_and_all_run) {
  constexpr int rounds = 2'000;
  Agent agent;
  const BoundedScheduler bounded(agent.scheduler(), 3);
  std::atomic<int> waiting{0};
  std::atomic<int> most{0};
  std::atomic<int> ran{0};
  const auto started = [&] {
    waiting.fetch_sub(1);
    ran.fetch_add(1);
  };
  const auto entered = [&] {
    const int now = waiting.fetch_add(1) + 1;
    for (int seen = most.load(); seen < now && !most.compare_exchange_weak(seen, now);) {
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        Room room = bounded.room().get();
        entered();
        bounded.post(std::move(room), started);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(agent.scheduler()
                  .post_task([] {}, {.priority = TaskPriority::background})
                  .wait_for(test::patience));
  EXPECT_EQ(ran.load(), 3 * rounds);
  EXPECT_LE(most.load(), 3 + 1);  // one has its callback's first line still to come
}

}  // namespace
}  // namespace heist::support
