// skynet1, skynet2, fib1, fib2: trees of tasks on one thread, and on two, where some must be
// stolen. Each node waits for its children, which may run elsewhere, and adds up what they return.
// Per node. skynet: ten children each, a million leaves with their numbers. fib: Fibonacci numbers
// without memory. nqueens1, nqueens2: all ways to put queens on a board, a node for each way to
// put some in the first rows. matmul1, matmul2: a product of matrices in blocks, for each smallest
// block.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "../../subjects/trees/heist_trees.hpp"
#include "../../subjects/trees/queens_and_matrices.hpp"
#include "../../subjects/trees/tbb_trees.hpp"
#include "subjects.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

constexpr int measured_trees = 3;
/// Of a smaller one, all may be done before the other thread is awake.
constexpr std::int64_t least_stolen_from = 500'000;

/// A million leaves, or fewer.
struct Skynet {
  explicit Skynet(const Run& run) noexcept {
    while (leaves * 10 <= run.scaled(1'000'000)) leaves *= 10;
  }
  [[nodiscard]] std::int64_t nodes() const noexcept { return (leaves * 10 - 1) / 9; }
  [[nodiscard]] std::int64_t expected() const noexcept { return leaves * (leaves - 1) / 2; }
  template <class Trees>
  [[nodiscard]] std::int64_t grow(Trees& trees) const {
    return trees.skynet(leaves);
  }
  std::int64_t leaves = 1;
};

/// The largest Fibonacci number with at most that many nodes.
struct Fib {
  explicit Fib(const Run& run) noexcept {
    const auto most = run.scaled(1'000'000);
    while (2 * (next + value) - 1 <= most) {
      const auto after = next + value;
      value = next;
      next = after;
      ++n;
    }
  }
  [[nodiscard]] std::int64_t nodes() const noexcept { return 2 * next - 1; }
  [[nodiscard]] std::int64_t expected() const noexcept { return value; }
  template <class Trees>
  [[nodiscard]] std::int64_t grow(Trees& trees) const {
    return trees.fib(n);
  }
  int n = 0;
  std::int64_t value = 0;
  std::int64_t next = 1;
};

/// The board of 11 rows, or a smaller one.
struct QueensTree {
  explicit QueensTree(const Run& run) noexcept {
    while (index + 1 < sizes.size() && sizes[index + 1].nodes <= run.scaled(sizes.back().nodes)) {
      ++index;
    }
  }
  [[nodiscard]] std::int64_t nodes() const noexcept { return sizes[index].nodes; }
  [[nodiscard]] std::int64_t expected() const noexcept { return sizes[index].solutions; }
  template <class Trees>
  [[nodiscard]] std::int64_t grow(Trees& trees) const {
    return trees.queens(sizes[index].rows);
  }

  struct Size {
    int rows;
    std::int64_t nodes;  ///< one for each set of queens in the first rows; counted
    std::int64_t solutions;
  };
  static constexpr std::array<Size, 4> sizes{
      {{8, 2'057, 92}, {9, 8'394, 352}, {10, 35'539, 724}, {11, 166'926, 2'680}}};
  std::size_t index = 0;
};

/// Matrices of 512 rows, or smaller ones.
struct ProductTree {
  explicit ProductTree(const Run& run) {
    while (size > 2 * Product::small_size && blocks(size) > run.scaled(blocks(512))) size /= 2;
    matrices = std::make_shared<Matrices>(size);
  }
  static std::int64_t blocks(std::size_t size) noexcept {
    const auto across = static_cast<std::int64_t>(size / Product::small_size);
    return across * across * across;
  }
  [[nodiscard]] std::int64_t nodes() const noexcept { return blocks(size); }
  [[nodiscard]] double expected() const noexcept { return matrices->expected_sum(); }
  template <class Trees>
  [[nodiscard]] double grow(Trees& trees) const {
    const Product product = matrices->product();
    trees.multiply(product);
    return matrices->sum();
  }
  std::size_t size = 512;
  std::shared_ptr<Matrices> matrices;
};

template <class Trees, class Tree>
void grow_trees(Run& run, int threads) {
  const Tree tree(run);
  Trees trees(threads);
  if (tree.grow(trees) != tree.expected()) std::abort();
  for (int i = 0; i < measured_trees; ++i) {
    run.start();
    const auto result = tree.grow(trees);
    run.stop(tree.nodes());
    if (result != tree.expected()) std::abort();
  }
  if (threads > 1 && tree.nodes() >= least_stolen_from && !trees.has_stolen()) std::abort();
  run.report_time();
}

using ForkEach = SubjectList<HeistTrees<LastChild::is_task>, TbbTrees<LastChild::is_task>>;
using ForkOrCall = SubjectList<HeistTrees<LastChild::is_task>, HeistTrees<LastChild::is_called>,
                               TbbTrees<LastChild::is_task>, TbbTrees<LastChild::is_called>>;

template <class Tree, class Subjects>
void add_tree(Registry& registry, const std::string& name, int threads) {
  add_for(Subjects(), registry,
          {.workload = name + std::to_string(threads), .subject = {}, .unit = "ns", .measure = {}},
          [threads]<class Trees>(Run& run) { grow_trees<Trees, Tree>(run, threads); });
}

}  // namespace

void add_trees(Registry& registry) {
  for (const int threads : {1, 2}) add_tree<Skynet, ForkOrCall>(registry, "skynet", threads);
  for (const int threads : {1, 2}) add_tree<Fib, ForkOrCall>(registry, "fib", threads);
  for (const int threads : {1, 2}) add_tree<QueensTree, ForkEach>(registry, "nqueens", threads);
  for (const int threads : {1, 2}) add_tree<ProductTree, ForkEach>(registry, "matmul", threads);
}

}  // namespace bench
