// Heist: a fork for each child. The caller waits for a cluster of agents, so there is one thread
// more, which sleeps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <heist/agent_cluster.hpp>
#include <heist/fork.hpp>
#include <heist/scheduler.hpp>

#include "queens_and_matrices.hpp"
#include "tbb_trees.hpp"

namespace bench {

/// All nodes are stealable: what a caller does after a call, be it to call the next one, or to
/// return.
template <LastChild last_child>
class HeistTrees {
 public:
  static constexpr const char* name =
      last_child == LastChild::is_task ? "heist_fork" : "heist_last_called";
  explicit HeistTrees(int threads)
      : cluster_(heist::AgentClusterOptions{.agents = unsigned(threads)}) {}

  [[nodiscard]] std::int64_t skynet(std::int64_t leaves) {
    std::int64_t sum = 0;
    cluster_.scheduler().post_task([leaves, &sum] { return skynet_node(0, leaves, sum); }).get();
    return sum;
  }
  [[nodiscard]] std::int64_t fib(int n) {
    return cluster_.scheduler().post_task([n] { return fib_node(n); }).get();
  }
  [[nodiscard]] std::int64_t queens(int size) {
    return cluster_.scheduler().post_task([size] { return queens_node(Queens(size)); }).get();
  }
  void multiply(const Product& product) {
    cluster_.scheduler().post_task([&product] { return product_node(product); }).get();
  }
  [[nodiscard]] bool has_stolen() const noexcept { return cluster_.stats().stolen != 0; }

 private:
  static heist::Forkable<> skynet_node(std::int64_t first, std::int64_t leaves, std::int64_t& sum) {
    if (leaves == 1) {
      sum = first;
      co_return;
    }
    std::array<std::int64_t, 10> sums{};
    const auto part = leaves / 10;
    for (std::size_t i = 0; i + 1 < sums.size(); ++i) {
      co_await heist::fork(skynet_node(first + std::int64_t(i) * part, part, sums[i]));
    }
    if constexpr (last_child == LastChild::is_task) {
      co_await heist::fork(skynet_node(first + 9 * part, part, sums[9]));
    } else {
      co_await skynet_node(first + 9 * part, part, sums[9]);
    }
    co_await heist::join();
    for (const auto of_child : sums) sum += of_child;
  }
  static heist::Forkable<std::int64_t> fib_node(int n) {
    if (n < 2) co_return n;
    heist::Forked<std::int64_t> x = co_await heist::fork(fib_node(n - 1));
    if constexpr (last_child == LastChild::is_task) {
      heist::Forked<std::int64_t> y = co_await heist::fork(fib_node(n - 2));
      co_await heist::join();
      co_return x.value() + y.value();
    } else {
      const std::int64_t y = co_await fib_node(n - 2);
      co_await heist::join();
      co_return x.value() + y;
    }
  }
  static heist::Forkable<std::int64_t> queens_node(Queens queens) {
    if (queens.are_all()) co_return 1;
    std::array<heist::Forked<std::int64_t>, Queens::most> parts;
    std::size_t count = 0;
    for (std::size_t column = 0; column < queens.size(); ++column) {
      if (!queens.may_add(column)) continue;
      parts[count++] = co_await heist::fork(queens_node(queens.with(column)));
    }
    co_await heist::join();
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += parts[i].value();
    co_return sum;
  }
  static heist::Forkable<> product_node(Product product) {
    if (product.is_small()) {
      product.multiply();
      co_return;
    }
    for (std::size_t half = 0; half < 2; ++half) {
      for (std::size_t i = 0; i < 4; ++i) co_await heist::fork(product_node(product.part(half, i)));
      co_await heist::join();
    }
  }

  heist::AgentCluster cluster_;
};

}  // namespace bench
