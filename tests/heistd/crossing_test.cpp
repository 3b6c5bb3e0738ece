// From a connection's thread to the network's and back.
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <functional>
#include <future>
#include <heistd/crossing.hpp>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

namespace heistd {
namespace {

namespace asio = boost::asio;

using Id = std::thread::id;

asio::awaitable<Id> here() { co_return std::this_thread::get_id(); }
asio::awaitable<Id> fails() {
  throw std::runtime_error("as it says");
  co_return Id();
}

/// Tells where it ends.
class Ends {
 public:
  explicit Ends(std::promise<Id>& where) : where_(where) {}
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  ~Ends() { where_.set_value(std::this_thread::get_id()); }

 private:
  std::promise<Id>& where_;
};

/// The test's thread is the network's.
class CrossingTest : public testing::Test {
 protected:
  CrossingTest() : thread_([this] { connection.run(); }) {}
  ~CrossingTest() override { end(); }

  void end() {
    work_.reset();
    if (thread_.joinable()) thread_.join();
  }
  /// Runs the network until the coroutine of a connection has ended; its result.
  template <class T>
  T result_of(asio::awaitable<T> coroutine) {
    auto result = asio::co_spawn(connection, std::move(coroutine), asio::use_future);
    while (result.wait_for(std::chrono::seconds()) != std::future_status::ready) {
      network.run_one_for(std::chrono::milliseconds(1));
      network.restart();
    }
    return result.get();
  }

  asio::io_context network;
  asio::io_context connection;
  const Crossing crossing{network, connection};
  const Id network_thread = std::this_thread::get_id();

 private:
  asio::executor_work_guard<asio::io_context::executor_type> work_ = make_work_guard(connection);
  std::thread thread_;

 protected:
  const Id connection_thread = thread_.get_id();
};

asio::awaitable<std::pair<Id, Id>> there_and_back(const Crossing& crossing) {
  auto step = here();
  auto called = crossing.call(step);
  const auto there = co_await std::move(called);
  co_return std::pair(there, std::this_thread::get_id());
}

TEST_F(CrossingTest,
       call_then_the_step_is_done_on_the_network_and_the_caller_goes_on_where_it_was) {
  EXPECT_EQ(result_of(there_and_back(crossing)), std::pair(network_thread, connection_thread));
}

asio::awaitable<Id> thread_of_failure(const Crossing& crossing) {
  auto step = fails();
  auto called = crossing.call(step);
  try {
    co_await std::move(called);
  } catch (const std::runtime_error&) {
    co_return std::this_thread::get_id();
  }
  co_return Id();
}

TEST_F(CrossingTest, call_when_the_step_throws_then_the_caller_gets_that_where_it_was) {
  EXPECT_EQ(result_of(thread_of_failure(crossing)), connection_thread);
}

TEST_F(CrossingTest, call_when_one_thread_does_both_then_it_stays) {
  const Crossing none(connection, connection);
  EXPECT_EQ(result_of(there_and_back(none)), std::pair(connection_thread, connection_thread));
}

TEST_F(CrossingTest, away_when_a_connection_drops_it_then_it_ends_on_the_network) {
  std::promise<Id> where;
  auto away = std::make_unique<Away<Ends>>(crossing, std::make_unique<Ends>(where));
  asio::post(connection, [away = std::move(away)]() mutable { away.reset(); });
  end();
  network.run();
  EXPECT_EQ(where.get_future().get(), network_thread);
}

TEST_F(CrossingTest, away_when_the_network_runs_no_more_then_it_ends_with_its_queue) {
  std::promise<Id> where;
  {
    asio::io_context ended;
    const Crossing to_it(ended, connection);
    auto away = std::make_unique<Away<Ends>>(to_it, std::make_unique<Ends>(where));
    asio::post(connection, [away = std::move(away)]() mutable { away.reset(); });
    end();
  }
  EXPECT_EQ(where.get_future().get(), network_thread);
}

}  // namespace
}  // namespace heistd
