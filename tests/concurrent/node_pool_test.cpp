#include "heist/concurrent/node_pool.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include "heist/concurrent/depot.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NODE_POOL_IS_BYPASSED 1
#endif
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OUT_OF_MEMORY_IS_FATAL 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define NODE_POOL_IS_BYPASSED 1
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OUT_OF_MEMORY_IS_FATAL 1
#endif

namespace heist {
namespace {

#if defined(NODE_POOL_IS_BYPASSED)
#define REQUIRE_POOLING() GTEST_SKIP() << "this sanitizer sees every node's own life: no pooling"
#else
#define REQUIRE_POOLING() static_cast<void>(0)
#endif
#if defined(OUT_OF_MEMORY_IS_FATAL)
#define REQUIRE_SURVIVABLE_OUT_OF_MEMORY() GTEST_SKIP() << "this sanitizer's malloc never fails"
#else
#define REQUIRE_SURVIVABLE_OUT_OF_MEMORY() static_cast<void>(0)
#endif

/// Nodes of one size, released when it goes.
class Nodes {
 public:
  explicit Nodes(std::size_t bytes) : bytes_(bytes) {}
  Nodes(std::size_t bytes, std::size_t count) : Nodes(bytes) {
    for (std::size_t i = 0; i < count; ++i) add();
  }
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;
  ~Nodes() {
    for (void* node : nodes_) release_node(node, bytes_);
  }

  void add() {
    nodes_.emplace_back();
    try {
      nodes_.back() = allocate_node(bytes_);
    } catch (...) {
      nodes_.pop_back();
      throw;
    }
  }
  [[nodiscard]] const std::vector<void*>& all() const { return nodes_; }

 private:
  std::size_t bytes_;
  std::vector<void*> nodes_;
};

std::uint64_t backing_allocations() { return node_pool_stats().backing_allocations; }

void on_thread(auto work) { std::thread(work).join(); }

class NodePoolSize : public testing::TestWithParam<std::size_t> {};
class PooledSize : public NodePoolSize {};

constexpr std::array<std::size_t, 15> pooled_sizes{1,   48,  64,  65,  96,  97,  128, 129,
                                                   192, 193, 256, 320, 384, 385, 512};
INSTANTIATE_TEST_SUITE_P(Pooled, NodePoolSize, testing::ValuesIn(pooled_sizes));
INSTANTIATE_TEST_SUITE_P(Large, NodePoolSize, testing::Values(513, 576, 5000));
INSTANTIATE_TEST_SUITE_P(Pooled, PooledSize, testing::ValuesIn(pooled_sizes));

TEST_P(NodePoolSize, allocate_when_many_then_each_has_its_own_bytes) {
  const std::size_t bytes = GetParam();
  const Nodes nodes(bytes, 100);
  for (std::size_t i = 0; i < 100; ++i) {
    std::memset(nodes.all()[i], static_cast<int>(i), bytes);
  }
  for (std::size_t i = 0; i < 100; ++i) {
    const std::span content(static_cast<unsigned char*>(nodes.all()[i]), bytes);
    EXPECT_TRUE(std::ranges::all_of(content, [i](unsigned char byte) { return byte == i; }));
  }
}

TEST_P(NodePoolSize, allocate_when_a_type_has_that_size_then_aligned_for_it) {
  const std::size_t alignment = std::clamp<std::size_t>(GetParam() & (0 - GetParam()), 16, 64);
  const Nodes nodes(GetParam(), 100);
  for (void* node : nodes.all()) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(node) % alignment, 0U);
  }
}

TEST_P(PooledSize, release_when_reallocated_at_once_then_no_backing_allocation) {
  REQUIRE_POOLING();
  release_node(allocate_node(GetParam()), GetParam());
  const std::uint64_t before = backing_allocations();
  for (int i = 0; i < 1000; ++i) release_node(allocate_node(GetParam()), GetParam());
  EXPECT_EQ(backing_allocations(), before);
}

TEST(NodePool, release_when_on_another_thread_then_its_nodes_come_back) {
  REQUIRE_POOLING();
  const auto round_trip = [] {
    auto nodes = std::make_unique<Nodes>(96, 1000);
    on_thread([&] { nodes.reset(); });
  };
  round_trip();
  const std::uint64_t before = backing_allocations();
  for (int i = 0; i < 50; ++i) round_trip();
  EXPECT_EQ(backing_allocations(), before);
}

TEST(NodePool, thread_when_it_ends_then_its_cache_serves_others) {
  REQUIRE_POOLING();
  const auto use_cache = [] { const Nodes nodes(192, 50); };
  on_thread(use_cache);
  const std::uint64_t before = backing_allocations();
  on_thread(use_cache);
  EXPECT_EQ(backing_allocations(), before);
}

TEST(NodePool, threads_when_thousands_live_briefly_then_memory_does_not_grow) {
  REQUIRE_POOLING();
  const auto post_once = [] { release_node(allocate_node(256), 256); };
  on_thread(post_once);
  const std::uint64_t before = backing_allocations();
  for (int i = 0; i < 2000; ++i) on_thread(post_once);
  EXPECT_EQ(backing_allocations(), before);
}

TEST(NodePool, threads_when_many_at_once_then_growth_is_a_batch_each) {
  REQUIRE_POOLING();
  constexpr std::size_t thread_count = 64;
  const auto wave = [] {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < thread_count; ++i) {
      threads.emplace_back([] { release_node(allocate_node(384), 384); });
    }
  };
  const std::uint64_t before = backing_allocations();
  for (int i = 0; i < 20; ++i) wave();
  EXPECT_LE(backing_allocations() - before, thread_count * NodeBatch::capacity);
}

TEST(NodePool, release_when_the_depot_is_full_then_memory_goes_back) {
  REQUIRE_POOLING();
  constexpr std::size_t kept_at_most = (std::size_t{2} << 20) / 512 + 2 * NodeBatch::capacity;
  constexpr std::size_t count = 20'000;
  const std::uint64_t before = node_pool_stats().backing_releases;
  {
    const Nodes nodes(512, count);
  }
  EXPECT_GE(node_pool_stats().backing_releases - before, count - kept_at_most);
}

TEST(NodePool, release_when_the_depot_has_room_then_memory_is_kept) {
  REQUIRE_POOLING();
  const std::uint64_t before = node_pool_stats().backing_releases;
  {
    const Nodes nodes(192, 5'000);
  }
  EXPECT_EQ(node_pool_stats().backing_releases, before);
}

TEST(NodePool, stats_when_a_node_is_large_then_backing_is_asked_each_time) {
  const NodePoolStats before = node_pool_stats();
  for (int i = 0; i < 3; ++i) release_node(allocate_node(513), 513);
  EXPECT_EQ(node_pool_stats().backing_allocations - before.backing_allocations, 3U);
  EXPECT_EQ(node_pool_stats().backing_releases - before.backing_releases, 3U);
}

// Rule: LIF-4
TEST(Lif4, allocate_node_when_too_large_for_the_machine_then_bad_alloc_and_nothing_changed) {
  REQUIRE_SURVIVABLE_OUT_OF_MEMORY();
  const NodePoolStats before = node_pool_stats();
  EXPECT_THROW(static_cast<void>(allocate_node(SIZE_MAX / 4)), std::bad_alloc);
  EXPECT_EQ(node_pool_stats().backing_allocations, before.backing_allocations);
}

void run_out_of_memory_and_exit() {
  Nodes nodes(512);
  const rlimit no_more{.rlim_cur = 0, .rlim_max = RLIM_INFINITY};
  if (setrlimit(RLIMIT_AS, &no_more) != 0 || setrlimit(RLIMIT_DATA, &no_more) != 0) std::exit(1);
  bool refused = false;
  for (int i = 0; i < 10'000'000 && !refused; ++i) {
    try {
      nodes.add();
    } catch (const std::bad_alloc&) {
      refused = true;
    }
  }
  const std::uint64_t before = backing_allocations();
  for (int i = 0; i < 100; ++i) {
    release_node(nodes.all()[0], 512);
    if (allocate_node(512) != nodes.all()[0]) refused = false;
  }
  std::_Exit(refused && backing_allocations() == before ? 0 : 1);
}

// Rule: LIF-4
TEST(Lif4, allocate_node_when_memory_runs_out_then_bad_alloc_and_released_nodes_serve_on) {
  REQUIRE_SURVIVABLE_OUT_OF_MEMORY();
  EXPECT_EXIT(run_out_of_memory_and_exit(), testing::ExitedWithCode(0), "");
}

struct ReleasesAtExit {
  void* node = nullptr;
  ~ReleasesAtExit() {
    if (node != nullptr) release_node(node, 64);
  }
};

TEST(NodePool, release_when_in_a_thread_local_destructor_then_reused_by_others) {
  REQUIRE_POOLING();
  const auto leave_one_for_the_destructor = [] {
    thread_local ReleasesAtExit late;
    late.node = allocate_node(64);
  };
  on_thread(leave_one_for_the_destructor);
  const std::uint64_t before = backing_allocations();
  for (int i = 0; i < 200; ++i) on_thread(leave_one_for_the_destructor);
  EXPECT_EQ(backing_allocations(), before);
}

TEST(NodePool, release_when_the_threads_cache_is_closed_then_goes_to_the_backing) {
  REQUIRE_POOLING();
  release_node(allocate_node(128),
               128);  // the pool's own key comes first, so it is destroyed first
  pthread_key_t later_key{};
  ASSERT_EQ(pthread_key_create(&later_key, [](void* node) { release_node(node, 128); }), 0);
  const std::uint64_t before = node_pool_stats().backing_releases;
  on_thread([later_key] { pthread_setspecific(later_key, allocate_node(128)); });
  EXPECT_EQ(node_pool_stats().backing_releases - before, 1U);
  pthread_key_delete(later_key);
}

TEST(NodePool, release_when_the_process_ends_then_static_destructors_may_release) {
  const auto exit_with_a_node_in_a_static = [] {
    static ReleasesAtExit late;
    late.node = allocate_node(64);
    std::exit(0);  // NOLINT(concurrency-mt-unsafe): the death test's child has one thread
  };
  EXPECT_EXIT(exit_with_a_node_in_a_static(), testing::ExitedWithCode(0), "");
}

/// A small depot, and addresses to keep in it.
class DepotTest : public testing::Test {
 protected:
  static constexpr std::size_t batches = 3;

  [[nodiscard]] std::array<void*, 2> pair(std::size_t i) {
    return {&bytes_[2 * i], &bytes_[2 * i + 1]};
  }
  [[nodiscard]] std::vector<void*> take() {
    std::vector<void*> nodes(NodeBatch::capacity);
    nodes.resize(depot.take(nodes.data()));
    return nodes;
  }
  static std::vector<void*> list(std::array<void*, 2> nodes) { return {nodes[0], nodes[1]}; }

 private:
  std::array<NodeBatch, batches> table_{};
  std::array<char, 2 * batches + 2> bytes_{};

 protected:
  Depot depot{table_};
};

TEST_F(DepotTest, take_when_empty_then_nothing) { EXPECT_TRUE(take().empty()); }

TEST_F(DepotTest, take_when_several_batches_then_the_last_put_first) {
  for (std::size_t i = 0; i < batches; ++i) ASSERT_TRUE(depot.put(pair(i)));
  for (std::size_t i = batches; i-- > 0;) EXPECT_EQ(take(), list(pair(i)));
  EXPECT_TRUE(take().empty());
}

TEST_F(DepotTest, put_when_full_then_refused_and_nothing_changed) {
  for (std::size_t i = 0; i < batches; ++i) ASSERT_TRUE(depot.put(pair(i)));
  EXPECT_FALSE(depot.put(pair(batches)));
  EXPECT_EQ(take(), list(pair(batches - 1)));
}

TEST_F(DepotTest, put_when_batches_were_taken_then_their_places_serve_again) {
  for (std::size_t i = 0; i < 100 * batches; ++i) {
    ASSERT_TRUE(depot.put(pair(i % batches)));
    EXPECT_EQ(take(), list(pair(i % batches)));
  }
}

}  // namespace
}  // namespace heist
