#include "heist/memory/node_pool.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <random>
#include <ranges>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include "heist/memory/depot.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEIST_TEST_POOL_IS_BYPASSED 1
#endif
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HEIST_TEST_OUT_OF_MEMORY_IS_FATAL 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define HEIST_TEST_POOL_IS_BYPASSED 1
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEIST_TEST_OUT_OF_MEMORY_IS_FATAL 1
#endif

namespace HEIST_NAMESPACE::detail {
namespace {

#if defined(HEIST_TEST_POOL_IS_BYPASSED)
#define HEIST_REQUIRE_POOLING() \
  GTEST_SKIP() << "this sanitizer sees every node's own life: no pooling"
#else
#define HEIST_REQUIRE_POOLING() static_cast<void>(0)
#endif
#if defined(HEIST_TEST_OUT_OF_MEMORY_IS_FATAL)
#define HEIST_REQUIRE_SURVIVABLE_OUT_OF_MEMORY() \
  GTEST_SKIP() << "this sanitizer's malloc never fails"
#else
#define HEIST_REQUIRE_SURVIVABLE_OUT_OF_MEMORY() static_cast<void>(0)
#endif

#define HEIST_REQUIRE_SLABS_OF_SEVERAL_PAGES()                 \
  if (sysconf(_SC_PAGESIZE) >= static_cast<long>(Slab::bytes)) \
  GTEST_SKIP() << "a page is as large as a slab here, which keeps it"

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

constexpr std::array<std::size_t, 19> pooled_sizes{1,   48,  64,  65,  96,  97,  128, 129, 160, 161,
                                                   192, 193, 256, 320, 384, 385, 512, 513, 640};
INSTANTIATE_TEST_SUITE_P(Pooled, NodePoolSize, testing::ValuesIn(pooled_sizes));
INSTANTIATE_TEST_SUITE_P(Large, NodePoolSize, testing::Values(641, 704, 5000));
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
  HEIST_REQUIRE_POOLING();
  release_node(allocate_node(GetParam()), GetParam());
  const std::uint64_t before = backing_allocations();
  for (int i = 0; i < 1000; ++i) release_node(allocate_node(GetParam()), GetParam());
  EXPECT_EQ(backing_allocations(), before);
}

TEST(NodePool, allocate_when_memory_is_new_then_neighbours_come_in_the_order_of_addresses) {
  HEIST_REQUIRE_POOLING();
  on_thread([] {
    const Nodes nodes(448, 2'000);
    EXPECT_GT(std::ranges::count_if(std::views::iota(std::size_t{1}, nodes.all().size()),
                                    [&](std::size_t i) {
                                      return static_cast<char*>(nodes.all()[i]) ==
                                             static_cast<char*>(nodes.all()[i - 1]) + 512;
                                    }),
              1'900);
  });
}

TEST(NodePool, allocate_when_nodes_came_back_in_disorder_then_in_the_order_of_addresses_again) {
  HEIST_REQUIRE_POOLING();
  on_thread([] {
    std::vector<void*> addresses;
    for (int i = 0; i < 2'000; ++i) addresses.push_back(allocate_node(384));
    std::ranges::shuffle(addresses, std::minstd_rand(1));
    for (void* node : addresses) release_node(node, 384);
    const Nodes nodes(384, 2'000);
    EXPECT_GT(std::ranges::count_if(std::views::iota(std::size_t{1}, nodes.all().size()),
                                    [&](std::size_t i) {
                                      return static_cast<char*>(nodes.all()[i]) ==
                                             static_cast<char*>(nodes.all()[i - 1]) + 384;
                                    }),
              1'500);
  });
}

TEST(NodePool, release_when_on_another_thread_then_its_nodes_come_back) {
  HEIST_REQUIRE_POOLING();
  const auto round_trip = [] {
    auto nodes = std::make_unique<Nodes>(96, 10'000);
    on_thread([&] { nodes.reset(); });
  };
  round_trip();
  const std::uint64_t before = backing_allocations();
  for (int i = 0; i < 50; ++i) round_trip();
  EXPECT_EQ(backing_allocations(), before);
}

TEST(NodePool, thread_when_it_ends_then_its_cache_serves_others) {
  HEIST_REQUIRE_POOLING();
  const auto use_cache = [] { const Nodes nodes(192, 100); };
  on_thread(use_cache);
  const std::uint64_t before = backing_allocations();
  for (int i = 0; i < 200; ++i) on_thread(use_cache);  // if lost, 20'000 nodes: 8 chunks
  EXPECT_EQ(backing_allocations(), before);
}

TEST(NodePool, threads_when_thousands_live_briefly_then_memory_does_not_grow) {
  HEIST_REQUIRE_POOLING();
  const auto post_once = [] { release_node(allocate_node(256), 256); };
  on_thread(post_once);
  const std::uint64_t before = backing_allocations();
  for (int i = 0; i < 2'000; ++i) on_thread(post_once);
  EXPECT_EQ(backing_allocations(), before);
}

TEST(NodePool, threads_when_many_at_once_then_a_few_nodes_each) {
  HEIST_REQUIRE_POOLING();
  constexpr std::size_t thread_count = 64;
  constexpr std::size_t nodes_in_a_chunk = std::size_t{8} * 170;
  const auto wave = [] {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < thread_count; ++i) {
      threads.emplace_back([] { release_node(allocate_node(384), 384); });
    }
  };
  const std::uint64_t before = backing_allocations();
  for (int i = 0; i < 20; ++i) wave();
  EXPECT_LE(backing_allocations() - before, thread_count * Depot::most / nodes_in_a_chunk + 2);
}

TEST(NodePool, release_when_more_than_64_mib_are_free_then_pages_go_back) {
  HEIST_REQUIRE_POOLING();
  HEIST_REQUIRE_SLABS_OF_SEVERAL_PAGES();
  constexpr std::size_t excess_slabs = 100;
  constexpr std::size_t count = ((std::size_t{64} << 20) + excess_slabs * Slab::bytes) / 512;
  const std::uint64_t before = node_pool_stats().backing_releases;
  {
    const Nodes nodes(512, count);
  }
  EXPECT_GE(node_pool_stats().backing_releases - before, excess_slabs - 2);
  EXPECT_LE(node_pool_stats().backing_releases - before, excess_slabs + 8);
}

TEST(NodePool, release_when_less_than_64_mib_are_free_then_pages_are_kept) {
  HEIST_REQUIRE_POOLING();
  const std::uint64_t before = node_pool_stats().backing_releases;
  {
    const Nodes nodes(192, 50'000);
  }
  EXPECT_EQ(node_pool_stats().backing_releases, before);
}

TEST(NodePool, stats_when_a_node_is_large_then_backing_is_asked_each_time) {
  const NodePoolStats before = node_pool_stats();
  for (int i = 0; i < 3; ++i) release_node(allocate_node(641), 641);
  EXPECT_EQ(node_pool_stats().backing_allocations - before.backing_allocations, 3U);
  EXPECT_EQ(node_pool_stats().backing_releases - before.backing_releases, 3U);
}

// Rule: LIF-4
TEST(Lif4, allocate_node_when_too_large_for_the_machine_then_bad_alloc_and_nothing_changed) {
  HEIST_REQUIRE_SURVIVABLE_OUT_OF_MEMORY();
  const NodePoolStats before = node_pool_stats();
  EXPECT_THROW(static_cast<void>(allocate_node(SIZE_MAX / 4)), std::bad_alloc);
  EXPECT_EQ(node_pool_stats().backing_allocations, before.backing_allocations);
}

void run_out_of_memory_and_exit() {
  std::vector<void*> nodes;
  nodes.reserve(1'000'000);
  const rlimit no_more{.rlim_cur = 0, .rlim_max = RLIM_INFINITY};
  if (setrlimit(RLIMIT_AS, &no_more) != 0 || setrlimit(RLIMIT_DATA, &no_more) != 0) std::_Exit(1);
  bool refused = false;
  while (!refused) {
    try {
      nodes.push_back(allocate_node(512));
      if (nodes.back() == nullptr || nodes.size() == nodes.capacity()) std::_Exit(2);
    } catch (const std::bad_alloc&) {
      refused = true;
    }
  }
  const std::uint64_t before = backing_allocations();
  for (int i = 0; i < 100; ++i) {
    release_node(nodes[0], 512);
    if (allocate_node(512) != nodes[0]) std::_Exit(3);
  }
  std::_Exit(backing_allocations() == before ? 0 : 4);
}

// Rule: LIF-4
TEST(Lif4, allocate_node_when_memory_runs_out_then_bad_alloc_and_released_nodes_serve_on) {
  HEIST_REQUIRE_SURVIVABLE_OUT_OF_MEMORY();
  EXPECT_EXIT(run_out_of_memory_and_exit(), testing::ExitedWithCode(0), "");
}

struct ReleasesAtExit {
  void* node = nullptr;
  ~ReleasesAtExit() {
    if (node != nullptr) release_node(node, 64);
  }
};

TEST(NodePool, release_when_in_a_thread_local_destructor_then_reused_by_others) {
  HEIST_REQUIRE_POOLING();
  const auto leave_one_for_the_destructor = [] {
    thread_local ReleasesAtExit late;
    late.node = allocate_node(64);
  };
  on_thread(leave_one_for_the_destructor);
  const std::uint64_t before = backing_allocations();
  for (int i = 0; i < 200; ++i) on_thread(leave_one_for_the_destructor);
  EXPECT_EQ(backing_allocations(), before);
}

/// What a destructor of a pthread key sees that runs after the pool's own.
void use_pool_without_a_cache(void* node) {
  release_node(node, 128);
  for (int i = 0; i < 100; ++i) release_node(allocate_node(128), 128);
}

TEST(NodePool, pool_when_the_threads_cache_is_closed_then_nodes_still_serve) {
  HEIST_REQUIRE_POOLING();
  release_node(allocate_node(128), 128);  // makes the pool's own key, which is destroyed first
  pthread_key_t later_key{};
  ASSERT_EQ(pthread_key_create(&later_key, use_pool_without_a_cache), 0);
  const std::uint64_t before = backing_allocations();
  for (int i = 0; i < 100; ++i) {
    on_thread([later_key] { pthread_setspecific(later_key, allocate_node(128)); });
  }
  EXPECT_EQ(backing_allocations(), before);
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

/// A depot of its own that retains one slab's worth.
class DepotTest : public testing::Test {
 protected:
  static constexpr std::size_t node_bytes = 512;
  static constexpr std::size_t nodes_in_a_slab = (Slab::bytes - Slab::header_bytes) / node_bytes;

  std::vector<void*> take() {
    std::vector<void*> nodes(Depot::most);
    nodes.resize(depot.take(nodes.data()));
    return nodes;
  }
  std::vector<void*> take_at_least(std::size_t count) {
    std::vector<void*> nodes;
    while (nodes.size() < count) std::ranges::copy(take(), std::back_inserter(nodes));
    return nodes;
  }

  Depot depot{node_bytes, Slab::bytes};
};

TEST_F(DepotTest, take_when_new_then_enough_nodes_of_one_slab_lowest_last) {
  const std::vector<void*> nodes = take();
  EXPECT_GE(nodes.size(), Depot::enough);
  EXPECT_TRUE(std::ranges::is_sorted(nodes, std::greater<>()));
  EXPECT_EQ(&Slab::of(nodes.front()), &Slab::of(nodes.back()));
}

TEST_F(DepotTest, take_when_many_then_each_node_once) {
  std::vector<void*> nodes = take_at_least(40 * nodes_in_a_slab);
  std::ranges::sort(nodes);
  EXPECT_TRUE(std::ranges::adjacent_find(nodes) == nodes.end());
}

TEST_F(DepotTest, take_when_nodes_were_put_then_those_and_no_new_memory) {
  const std::vector<void*> nodes = take_at_least(8 * nodes_in_a_slab);
  const std::uint64_t before = depot.chunks_made();
  for (int i = 0; i < 100; ++i) {
    depot.put(std::span(nodes).first(70));
    EXPECT_EQ(take_at_least(70).size(), 70U);
  }
  EXPECT_EQ(depot.chunks_made(), before);
}

TEST_F(DepotTest, take_when_free_nodes_are_scattered_then_from_several_slabs) {
  const std::vector<void*> nodes = take_at_least(30 * nodes_in_a_slab);
  std::vector<void*> scattered;
  for (std::size_t i = 0; i < nodes.size(); i += nodes_in_a_slab) scattered.push_back(nodes[i]);
  depot.put(scattered);
  std::vector<void*> taken = take_at_least(scattered.size());
  std::ranges::sort(taken);
  std::ranges::sort(scattered);
  EXPECT_TRUE(std::ranges::includes(taken, scattered));
}

TEST_F(DepotTest, put_when_a_slab_is_whole_and_enough_is_retained_then_trimmed_and_usable_again) {
  HEIST_REQUIRE_SLABS_OF_SEVERAL_PAGES();
  constexpr std::size_t slabs = 8;
  const std::vector<void*> nodes = take_at_least(slabs * nodes_in_a_slab);
  depot.put(nodes);
  EXPECT_GE(depot.slabs_trimmed(), slabs - 3);
  const std::uint64_t before = depot.chunks_made();
  std::vector<void*> again = take_at_least(slabs * nodes_in_a_slab);
  EXPECT_EQ(depot.chunks_made(), before);
  for (void* node : again) std::memset(node, 1, node_bytes);
  std::ranges::sort(again);
  EXPECT_TRUE(std::ranges::adjacent_find(again) == again.end());
}

TEST_F(DepotTest, put_when_little_is_free_then_nothing_is_trimmed) {
  const std::vector<void*> nodes = take();
  depot.put(nodes);
  EXPECT_EQ(depot.slabs_trimmed(), 0U);
}

// A prefetch of an address that is not mapped costs a walk through the page tables.
TEST(FreeNodesOfAThread, last_ones_when_taken_then_what_is_prefetched_is_mapped) {
  FreeNodes free;
  free.open();
  int node = 0;
  free.push(&node);
  for (void** before = free.nodes(); before-- != free.nodes() - 4;) EXPECT_EQ(*before, &free);
  EXPECT_EQ(free.pop(), &node);
  EXPECT_TRUE(free.is_empty());
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
