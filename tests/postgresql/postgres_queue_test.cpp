// How calls that wait become batches, and batches parts.
#include <gtest/gtest.h>

#include <heistd/postgresql/postgres_queue.hpp>

namespace heistd {
namespace {

using Time = PostgresAsked::Clock::time_point;
using std::chrono::seconds;

/// A call that has a number of seconds as its deadline.
PostgresAsked asked(int number, std::string_view bytes = "") {
  return {{{"", ""}, PostgresParameters(bytes)},
          [](const PostgresResult& /*result*/) {},
          Time(seconds(number))};
}

PostgresQueue queue_of(int calls) {
  PostgresQueue queue(100, 100);
  for (int i = 0; i < calls; ++i) queue.add(asked(i));
  return queue;
}

/// The numbers of the calls of each turn.
std::vector<std::vector<int>> turns_of(PostgresQueue queue) {
  std::vector<std::vector<int>> turns;
  while (const auto turn = queue.take()) {
    turns.emplace_back();
    for (const auto& one : turn->asks)
      turns.back().push_back(static_cast<int>(one.deadline.time_since_epoch() / seconds(1)));
  }
  EXPECT_EQ(queue.size(), 0U);
  return turns;
}

using Turns = std::vector<std::vector<int>>;

TEST(PostgresQueue, add_when_a_turn_is_full_then_the_next_one_begins) {
  PostgresQueue queue(2, 10);
  for (int i = 0; i < 3; ++i) queue.add(asked(i));
  queue.add(asked(3, "8 bytes_"));
  queue.add(asked(4, "8 bytes_"));
  queue.add(asked(5, "more than all of a turn"));
  EXPECT_EQ(queue.size(), 6U);
  EXPECT_EQ(turns_of(std::move(queue)), (Turns{{0, 1}, {2, 3}, {4}, {5}}));
}

TEST(PostgresQueue, put_back_when_there_are_others_then_it_is_the_next_one_and_gets_no_more) {
  auto queue = queue_of(2);
  auto turn = queue.take();
  queue.put_back(std::move(*turn));
  queue.add(asked(2));
  EXPECT_EQ(turns_of(std::move(queue)), (Turns{{0, 1}, {2}}));
}

TEST(PostgresQueue, put_back_in_parts_when_a_call_has_failed_then_it_is_alone) {
  const auto parts = [](std::size_t failed) {
    auto queue = queue_of(7);
    auto turn = queue.take();
    queue.add(asked(7));
    queue.put_back_in_parts(std::move(*turn), failed);
    return turns_of(std::move(queue));
  };
  EXPECT_EQ(parts(2), (Turns{{0, 1}, {2}, {3, 4}, {5, 6}, {7}}));
  EXPECT_EQ(parts(0), (Turns{{0}, {1, 2, 3}, {4, 5, 6}, {7}}));
  EXPECT_EQ(parts(6), (Turns{{0, 1, 2, 3, 4, 5}, {6}, {7}}));
  EXPECT_EQ(parts(7), (Turns{{0, 1, 2}, {3, 4, 5, 6}, {7}}));
}

TEST(PostgresQueue, take_overdue_when_some_are_then_the_others_stay) {
  PostgresQueue queue(2, 100);
  for (int i = 0; i < 5; ++i) queue.add(asked(i));
  EXPECT_EQ(queue.take_overdue(Time(seconds(2))).size(), 3U);
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue.deadline(), Time(seconds(3)));
  EXPECT_EQ(turns_of(std::move(queue)), (Turns{{3}, {4}}));
}

}  // namespace
}  // namespace heistd
