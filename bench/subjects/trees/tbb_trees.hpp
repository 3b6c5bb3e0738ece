// oneTBB: a task_group in each node, as in its guide's Fibonacci numbers. The caller is one of the
// threads: it executes the tree inside an arena, whose other slots are for workers.
#pragma once

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "queens_and_matrices.hpp"

namespace bench {

/// What becomes of a node's last child: a task as the others are, or a plain call in place of it,
/// which is faster and loses no parallelism, but leaves a tenth or a half of the nodes in their
/// parent's task.
enum class LastChild : bool { is_task, is_called };

template <LastChild last_child>
class TbbTrees {
 public:
  static constexpr const char* name =
      last_child == LastChild::is_task ? "tbb_task_group" : "tbb_last_called";
  explicit TbbTrees(int threads)
      : parallelism_(tbb::global_control::max_allowed_parallelism, std::size_t(threads)),
        arena_(threads) {}

  [[nodiscard]] std::int64_t skynet(std::int64_t leaves) {
    return arena_.execute([&] { return skynet_node(0, leaves); });
  }
  [[nodiscard]] std::int64_t fib(int n) {
    return arena_.execute([&] { return fib_node(n); });
  }
  [[nodiscard]] std::int64_t queens(int size) {
    return arena_.execute([&] { return queens_node(Queens(size)); });
  }
  void multiply(const Product& product) {
    arena_.execute([&] { product_node(product); });
  }
  /// Whether another thread than the caller ran one of the large nodes.
  [[nodiscard]] bool has_stolen() const noexcept { return stolen_.load(std::memory_order_relaxed); }

 private:
  /// Smaller ones are not looked at, as that would cost time.
  static constexpr std::int64_t large_skynet = 1'000;
  static constexpr int large_fib = 16;

  std::int64_t skynet_node(std::int64_t first, std::int64_t leaves) {
    if (leaves == 1) return first;
    if (leaves >= large_skynet) look();
    const auto part = leaves / 10;
    std::array<std::int64_t, 10> sums{};
    tbb::task_group group;
    const auto child = [&](std::size_t i) {
      sums[i] = skynet_node(first + std::int64_t(i) * part, part);
    };
    for (std::size_t i = 0; i + 1 < sums.size(); ++i) group.run([&child, i] { child(i); });
    run_last(group, [&child] { child(9); });
    group.wait();
    std::int64_t sum = 0;
    for (const auto of_child : sums) sum += of_child;
    return sum;
  }
  std::int64_t fib_node(int n) {
    if (n < 2) return n;
    if (n >= large_fib) look();
    std::int64_t x = 0;
    std::int64_t y = 0;
    tbb::task_group group;
    group.run([&] { x = fib_node(n - 1); });
    run_last(group, [&] { y = fib_node(n - 2); });
    group.wait();
    return x + y;
  }
  std::int64_t queens_node(const Queens& queens) {
    if (queens.are_all()) return 1;
    look();
    std::array<std::int64_t, Queens::most> parts{};
    std::size_t count = 0;
    tbb::task_group group;
    for (std::size_t column = 0; column < queens.size(); ++column) {
      if (!queens.may_add(column)) continue;
      std::int64_t& part = parts[count++];
      group.run([this, &part, next = queens.with(column)] { part = queens_node(next); });
    }
    group.wait();
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += parts[i];
    return sum;
  }
  void product_node(const Product& product) {
    if (product.is_small()) return product.multiply();
    look();
    for (std::size_t half = 0; half < 2; ++half) {
      tbb::task_group group;
      for (std::size_t i = 0; i < 4; ++i) {
        group.run([this, part = product.part(half, i)] { product_node(part); });
      }
      group.wait();
    }
  }
  template <class Child>
  static void run_last(tbb::task_group& group, const Child& child) {
    if constexpr (last_child == LastChild::is_task) {
      group.run(child);
    } else {
      child();
    }
  }
  void look() noexcept {
    if (std::this_thread::get_id() != caller_ && !has_stolen())
      stolen_.store(true, std::memory_order_relaxed);
  }

  std::thread::id caller_ = std::this_thread::get_id();
  std::atomic<bool> stolen_{false};
  tbb::global_control parallelism_;
  tbb::task_arena arena_;
};

}  // namespace bench
