// Asio's strands over an Executor: one handler at a time, in order, whatever becomes of signals.
#include <gtest/gtest.h>

#include <heist/asio.hpp>
#include <heist/heist.hpp>
#include <utility>
#include <vector>

#include "asio/library_under_test.hpp"

namespace HEIST_NAMESPACE::asio {
namespace {

class AsioStrandOn : public testing::TestWithParam<unsigned> {
 protected:
  TaskContext context;
  AgentCluster cluster{{.agents = GetParam()}};
  Executor executor{context, cluster};
};
INSTANTIATE_TEST_SUITE_P(Agents, AsioStrandOn, testing::Values(1U, 2U, 8U));

// Rule: ASIO-2
TEST_P(AsioStrandOn, post_when_the_signal_is_aborted_then_all_handlers_run_one_by_one_in_order) {
  constexpr int count = 2'000;
  TaskController controller;
  auto strand = net::make_strand(net::require(executor, signal(controller.signal())));
  std::vector<int> order;  // without a lock: the strand is one
  for (int at = 0; at < count; ++at) {
    if (at == count / 2) controller.abort();
    net::post(strand, [&order, at] { order.push_back(at); });
  }
  auto [done, resolver] = Promise<void>::with_resolver();
  net::post(strand, [resolver = std::move(resolver)]() mutable { resolver.resolve(); });
  done.get();
  ASSERT_EQ(order.size(), static_cast<std::size_t>(count));
  for (int at = 0; at < count; ++at) ASSERT_EQ(order[static_cast<std::size_t>(at)], at);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::asio
