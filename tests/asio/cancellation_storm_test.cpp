// Operations of Asio end by an abort and by themselves at the same time, with handlers on agents
// that run at the same time.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <heist/asio.hpp>
#include <heist/heist.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "asio/library_under_test.hpp"

namespace HEIST_NAMESPACE::asio {
namespace {

/// How many operations there are: of the gate, unless the environment says otherwise.
int operations() {
  const char* const wanted = std::getenv("HEIST_ASIO_OPERATIONS");
  return wanted != nullptr ? std::stoi(wanted) : 100'000;
}

constexpr int operations_at_once = 1'000;

class AsioStorm : public testing::TestWithParam<unsigned> {
 protected:
  /// Counts a handler down, which settles the promise when it was the last.
  auto end_of(int& left, std::atomic<int>& pending, Resolver<void>& all) {
    return [&](const error_code& /*error*/) {
      --left;  // each operation has its own, and its handler runs once
      if (pending.fetch_sub(1) == 1) all.resolve();
    };
  }

  TaskContext context;
  net::io_context io;
  AgentCluster cluster{{.agents = GetParam()}};
  Executor executor{context, cluster};
};
INSTANTIATE_TEST_SUITE_P(Agents, AsioStorm, testing::Values(2U, 8U));

// Rule: ASIO-8
TEST_P(AsioStorm, abort_when_many_operations_start_and_end_then_each_handler_runs_once) {
  const auto work = net::make_work_guard(io);
  std::thread server([&] { io.run(); });
  for (int begun = 0; begun < operations(); begun += operations_at_once) {
    AbortController controller;
    std::vector<int> left(operations_at_once, 1);
    std::atomic<int> pending{operations_at_once};
    auto [done, all] = Promise<void>::with_resolver();
    std::vector<net::steady_timer> timers;
    timers.reserve(operations_at_once);
    std::thread aborter;
    for (int at = 0; at < operations_at_once; ++at) {
      // Some of them end by themselves, about when the abort comes.
      const auto length = at % 2 == 0 ? std::chrono::microseconds(at) : std::chrono::hours(1);
      net::steady_timer& timer = timers.emplace_back(io, length);
      timer.async_wait(bind_abort_signal(
          controller.signal(),
          net::bind_executor(executor, end_of(left[std::size_t(at)], pending, all))));
      if (at == operations_at_once / 2) aborter = std::thread([&] { controller.abort(); });
    }
    done.get();
    aborter.join();
    for (const int rest : left) ASSERT_EQ(rest, 0);
  }
  io.stop();
  server.join();
}

}  // namespace
}  // namespace HEIST_NAMESPACE::asio
