// AgentContexts: the threads of a cluster's agents serve sockets and tasks.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <heist/asio.hpp>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "asio/library_under_test.hpp"
#include "asio/thread_count.hpp"
#include "support/error_recorder.hpp"
#include "support/threads.hpp"

namespace HEIST_NAMESPACE::asio {
namespace {

using net::ip::tcp;
using Executors = AgentContexts::executor_type;

static_assert(net::execution::is_executor<Executors>::value);
static_assert(std::is_constructible_v<net::any_io_executor, Executors>);

constexpr std::chrono::seconds patience(60);

class AsioAgents : public testing::TestWithParam<unsigned> {
 protected:
  TaskContext context;
  std::optional<AgentContexts> contexts{std::in_place, GetParam()};
  std::optional<AgentCluster> cluster{std::in_place,
                                      AgentClusterOptions{.hosts = contexts->hosts()}};
  Executor urgent{net::require(Executor(context, *cluster), priority(TaskPriority::user_blocking))};
};
INSTANTIATE_TEST_SUITE_P(Agents, AsioAgents, testing::Values(1U, 2U, 8U));

/// A connected pair of sockets. The first one is an agent's, the second one is used without waiting
/// for events.
struct Connection {
  explicit Connection(const net::any_io_executor& agent) : served(agent), client(agent) {
    tcp::acceptor acceptor(agent, tcp::endpoint(net::ip::address_v4::loopback(), 0));
    client.connect(acceptor.local_endpoint());
    acceptor.accept(served);
  }

  tcp::socket served;
  tcp::socket client;
};

/// Sends back what it reads, in handlers of `executor`, until the other side closes.
class Echo : public std::enable_shared_from_this<Echo> {
 public:
  Echo(tcp::socket socket, Executor executor)
      : socket_(std::move(socket)), executor_(std::move(executor)) {}
  void read() {
    auto on_read = [self = shared_from_this()](const error_code& error, std::size_t size) {
      if (!error) self->write(size);
    };
    socket_.async_read_some(net::buffer(buffer_), net::bind_executor(executor_, on_read));
  }

 private:
  void write(std::size_t size) {
    auto on_written = [self = shared_from_this()](const error_code& error, std::size_t /*size*/) {
      if (!error) self->read();
    };
    net::async_write(socket_, net::buffer(buffer_, size),
                     net::bind_executor(executor_, on_written));
  }

  tcp::socket socket_;
  Executor executor_;
  std::array<char, 64> buffer_{};
};

void talk(tcp::socket& client) {
  const std::string line = "hello";
  net::write(client, net::buffer(line));
  std::string answer(line.size(), '\0');
  net::read(client, net::buffer(answer));
  ASSERT_EQ(answer, line);
}

// Rule: ASIO-10
TEST_P(AsioAgents, end_when_a_handler_owns_a_socket_of_another_agent_then_both_are_destroyed) {
  auto first = std::make_shared<tcp::acceptor>((*contexts)[0],
                                               tcp::endpoint(net::ip::address_v4::loopback(), 0));
  const std::weak_ptr<tcp::acceptor> owned = first;
  auto last = std::make_shared<net::steady_timer>((*contexts)[contexts->size() - 1], patience);
  last->async_wait([first, last](const error_code& /*error*/) {});
  last.reset();
  first.reset();
  cluster.reset();
  EXPECT_FALSE(owned.expired());
  contexts.reset();
  EXPECT_TRUE(owned.expired());
}

// Rule: ASIO-10
TEST_P(AsioAgents, sockets_when_all_agents_serve_some_then_no_thread_is_started) {
  const auto before = test::thread_count();
  std::vector<Connection> connections;
  for (unsigned agent = 0; agent < contexts->size(); ++agent) {
    Connection& connection = connections.emplace_back((*contexts)[agent]);
    std::make_shared<Echo>(std::move(connection.served), urgent)->read();
  }
  for (int at = 0; at < 100; ++at) {
    for (Connection& connection : connections) talk(connection.client);
  }
  EXPECT_EQ(test::thread_count(), before);
}

// Rule: ASIO-10
TEST_P(AsioAgents, handler_when_it_is_of_an_agent_then_that_agents_thread_calls_it) {
  for (unsigned agent = 0; agent < contexts->size(); ++agent) {
    net::steady_timer timer((*contexts)[agent], std::chrono::milliseconds(1));
    auto [done, resolver] = Promise<bool>::with_resolver();
    timer.async_wait([&, resolver = std::move(resolver)](const error_code& /*error*/) mutable {
      const bool is_own = contexts->of_this_agent() == (*contexts)[agent];
      resolver.resolve(is_own && Agent::current() == &cluster->agent(agent));
    });
    EXPECT_TRUE(done.get());
  }
  EXPECT_THROW(static_cast<void>(contexts->of_this_agent()), NotAllowedError);
  EXPECT_THROW(static_cast<void>((*contexts)[contexts->size()]), std::out_of_range);
}

// Rule: ASIO-10, HOST-1
TEST_P(AsioAgents, request_when_background_tasks_go_on_for_ever_then_it_is_served) {
  std::atomic<bool> ends{false};
  std::function<void()> task = [&] {
    if (!ends) cluster->scheduler().post(std::cref(task), {.priority = TaskPriority::background});
  };
  for (int at = 0; at < 10'000; ++at) task();
  Connection connection((*contexts)[0]);
  std::make_shared<Echo>(std::move(connection.served), urgent)->read();
  for (int at = 0; at < 10; ++at) talk(connection.client);
  ends = true;
  static_cast<void>(cluster->close(CloseMode::drain()));
}

// Rule: ASIO-10, HOST-1
TEST(AsioOneAgent, request_when_10000_background_tasks_are_queued_then_it_comes_before_most) {
  TaskContext context;
  AgentContexts contexts(1);
  AgentCluster cluster({.hosts = contexts.hosts()});
  const auto urgent =
      net::require(Executor(context, cluster), priority(TaskPriority::user_blocking));
  Connection connection(contexts[0]);
  support::Gate gate;
  int background = 0;
  auto [done, resolver] = Promise<int>::with_resolver();
  std::array<char, 1> byte{};
  cluster.scheduler().post([&] { gate.wait(); });
  for (int at = 0; at < 10'000; ++at)
    cluster.scheduler().post([&] { ++background; }, {.priority = TaskPriority::background});
  connection.served.async_read_some(
      net::buffer(byte),
      net::bind_executor(urgent, [&, resolver = std::move(resolver)](const error_code& /*error*/,
                                                                     std::size_t /*size*/) mutable {
        resolver.resolve(background);
      }));
  net::write(connection.client, net::buffer(byte));
  gate.open();
  EXPECT_LT(done.get(), 1'000);
  static_cast<void>(cluster.close(CloseMode::drain()));
  EXPECT_EQ(background, 10'000);
}

// Rule: ASIO-10, HOST-1
TEST_P(AsioAgents, tasks_when_handlers_go_on_for_ever_then_they_run) {
  std::atomic<bool> ends{false};
  std::function<void(unsigned)> handle = [&](unsigned agent) {
    if (!ends) net::post((*contexts)[agent], [&handle, agent] { handle(agent); });
  };
  for (unsigned agent = 0; agent < contexts->size(); ++agent) handle(agent);
  for (int at = 0; at < 100; ++at) {
    const auto ran = cluster->scheduler().post_task([] {});
    ASSERT_TRUE(ran.wait_for(patience));
  }
  ends = true;
  static_cast<void>(cluster->close(CloseMode::abort()));
}

// Rule: ASIO-11, HOST-3
TEST_P(AsioAgents, handler_when_it_lasts_then_other_agents_take_what_it_and_others_post) {
  if (GetParam() == 1) GTEST_SKIP() << "there is no other agent";
  for (int at = 0; at < 200; ++at) {
    auto [done, resolver] = Promise<bool>::with_resolver();
    net::post((*contexts)[0], [&, resolver = std::move(resolver)]() mutable {
      const auto ran = cluster->scheduler().post_task([] {});
      resolver.resolve(ran.wait_for(patience));
    });
    const auto of_others = cluster->scheduler().post_task([] {});
    ASSERT_TRUE(done.get());
    ASSERT_TRUE(of_others.wait_for(patience));
  }
}

// Rule: ASIO-10
TEST_P(AsioAgents, hop_when_agents_sleep_between_then_no_wake_up_is_lost) {
  for (int at = 0; at < 2'000; ++at) {
    const unsigned agent = static_cast<unsigned>(at) % contexts->size();
    auto [done, resolver] = Promise<void>::with_resolver();
    net::post((*contexts)[agent], [&, agent, resolver = std::move(resolver)]() mutable {
      cluster->scheduler().post([&, agent, resolver = std::move(resolver)]() mutable {
        net::post((*contexts)[agent], [&, agent, resolver = std::move(resolver)]() mutable {
          cluster->agent(agent).scheduler().post(
              [resolver = std::move(resolver)]() mutable { resolver.resolve(); });
        });
      });
    });
    ASSERT_TRUE(done.wait_for(patience));
  }
}

// Rule: ASIO-10
TEST_P(AsioAgents, close_when_operations_wait_then_their_handlers_are_destroyed_uncalled) {
  std::atomic<bool> is_called{false};
  auto handler = std::make_shared<int>();
  const std::weak_ptr<int> left = handler;
  std::vector<Connection> connections;
  for (unsigned agent = 0; agent < contexts->size(); ++agent) {
    Connection& connection = connections.emplace_back((*contexts)[agent]);
    auto buffer = std::make_shared<std::array<char, 1>>();
    connection.served.async_read_some(
        net::buffer(*buffer),
        net::bind_executor(
            urgent, [&is_called, buffer, handler](const error_code& /*error*/,
                                                  std::size_t /*size*/) { is_called = true; }));
  }
  handler.reset();
  cluster.reset();
  connections.clear();
  contexts.reset();
  EXPECT_TRUE(left.expired());
  EXPECT_FALSE(is_called);
}

// Rule: ASIO-10
TEST_P(AsioAgents, contexts_when_a_second_cluster_has_them_then_it_serves_them) {
  cluster.reset();
  cluster.emplace(AgentClusterOptions{.hosts = contexts->hosts()});
  for (unsigned agent = 0; agent < contexts->size(); ++agent) {
    auto [done, resolver] = Promise<Agent*>::with_resolver();
    net::post((*contexts)[agent],
              [resolver = std::move(resolver)]() mutable { resolver.resolve(Agent::current()); });
    EXPECT_EQ(done.get(), &cluster->agent(agent));
    EXPECT_TRUE(cluster->agent(agent).scheduler().post_task([] {}).wait_for(patience));
  }
}

// Rule: ASIO-10
TEST_P(AsioAgents, handler_when_it_throws_then_the_error_hook_has_it_and_the_agent_goes_on) {
  support::ErrorRecorder errors;
  net::post((*contexts)[0], [] { throw std::runtime_error("thrown"); });
  auto [done, resolver] = Promise<void>::with_resolver();
  net::post((*contexts)[0], [resolver = std::move(resolver)]() mutable { resolver.resolve(); });
  EXPECT_TRUE(done.wait_for(patience));
  EXPECT_EQ(errors.take().size(), 1U);
}

// Asio 1.22 does not know that clang has coroutines.
#if defined(ASIO_HAS_CO_AWAIT) || defined(BOOST_ASIO_HAS_CO_AWAIT)
// Rule: ASIO-10
TEST_P(AsioAgents, coroutine_when_it_is_spawned_on_an_agent_then_it_waits_for_tasks_there) {
  auto [done, resolver] = Promise<bool>::with_resolver();
  const auto talk_to_tasks = [](AgentContexts& all, Scheduler scheduler,
                                Resolver<bool> to) -> net::awaitable<void> {
    const auto here = all.of_this_agent();
    const Promise<int> task = scheduler.post_task([] { return 7; });
    const int seven = co_await async_wait(task, net::use_awaitable);
    to.resolve(seven == 7 && all.of_this_agent() == here);
  };
  net::co_spawn((*contexts)[0], talk_to_tasks(*contexts, cluster->scheduler(), std::move(resolver)),
                net::detached);
  EXPECT_TRUE(done.get());
}
#endif

}  // namespace
}  // namespace HEIST_NAMESPACE::asio
