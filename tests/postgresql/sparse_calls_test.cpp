// What is to be done at once, but not often.
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <heistd/postgresql/sparse_calls.hpp>
#include <stdexcept>

namespace heistd {
namespace {

TEST(SparseCalls, ask_when_it_has_called_just_now_then_many_are_one_call_after_the_pause) {
  boost::asio::io_context io;
  int count = 0;
  SparseCalls calls(io.get_executor(), std::chrono::hours(1), [&] { ++count; });
  calls.ask();
  EXPECT_EQ(count, 1);
  calls.ask();
  calls.ask();
  io.poll();
  EXPECT_EQ(count, 1);
  calls.end_pause();
  io.poll();
  EXPECT_EQ(count, 2);
  calls.ask();  // there is a pause after that call, too
  EXPECT_EQ(count, 2);
}

TEST(SparseCalls, ask_when_a_pause_has_ended_in_which_it_was_not_asked_then_it_calls_at_once) {
  boost::asio::io_context io;
  int count = 0;
  SparseCalls calls(io.get_executor(), std::chrono::hours(1), [&] { ++count; });
  calls.ask();
  calls.end_pause();
  io.poll();
  EXPECT_EQ(count, 1);
  calls.ask();
  EXPECT_EQ(count, 2);
}

TEST(SparseCalls, ask_when_the_call_throws_then_it_is_left_out_and_the_next_one_comes_at_once) {
  boost::asio::io_context io;
  int count = 0;
  SparseCalls calls(io.get_executor(), std::chrono::hours(1), [&] {
    if (++count == 1) throw std::runtime_error("it cannot be done");
  });
  calls.ask();
  calls.ask();
  EXPECT_EQ(count, 2);
}

}  // namespace
}  // namespace heistd
