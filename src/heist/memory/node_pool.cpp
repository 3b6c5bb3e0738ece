// This file has the threads' caches over one depot for each size class. docs/adr/0003 has the
// figures.
//
// Roles   owner: the thread to which the cache belongs. Nobody else touches a cache.
// States  A thread's cache is open, or it is closed_cache, if the thread is new, has ended, or
//         could not register. closed_cache holds nothing and has no room, so calls find it both
//         empty and full.
// Edges   those of Depot. Within a thread, program order is enough.
// Exit    The destructor of a pthread key closes a thread's cache, after the thread's thread_local
//         objects are gone. The main thread's cache never closes. Caches and depots need no
//         initialisation and are never destroyed, so static destructors may release nodes.
// Bound   128 free nodes of each class in a thread, 64 MiB of free nodes in a depot.
#include "heist/memory/node_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <heist/detail/sync.hpp>
#include <new>
#include <span>

#include "heist/memory/address_bits.hpp"
#include "heist/memory/backing.hpp"
#include "heist/memory/depot.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEIST_NODE_POOL_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(HEIST_NODE_POOL_ASAN)
#define HEIST_NODE_POOL_ASAN 1
#endif

namespace HEIST_NAMESPACE::detail {
namespace {

struct Counters {
  sync::atomic<std::uint64_t> allocations{0};
  sync::atomic<std::uint64_t> releases{0};
};
constinit Counters counters;

// The alignment that suits any type of that size, up to a cache line.
constexpr std::size_t alignment_of(std::size_t bytes) noexcept {
  return std::clamp<std::size_t>(std::size_t{1} << std::countr_zero(bytes | 64),
                                 alignof(std::max_align_t), 64);
}

void* counted_allocate(std::size_t bytes) {
  void* const node = backing_allocate(bytes, alignment_of(bytes));
  if (node == nullptr) throw std::bad_alloc();
  expect_short_address(node);
  counters.allocations.fetch_add(1, sync::relaxed);  // relaxed: for information
  return node;
}

void counted_free(void* node) noexcept {
  backing_free(node);
  counters.releases.fetch_add(1, sync::relaxed);  // relaxed: for information
}

NodePoolStats large_node_stats() noexcept {
  // relaxed: for information
  return {.backing_allocations = counters.allocations.load(sync::relaxed),
          .backing_releases = counters.releases.load(sync::relaxed)};
}

}  // namespace

namespace {

constinit NodeCache closed_cache{};

}  // namespace

constinit thread_local NodeCache* node_cache = &closed_cache;

#if defined(HEIST_NODE_POOL_ASAN)

// No thread opens a cache here, because the sanitizer must see when each node begins and ends.
void* allocate_node_elsewhere(std::size_t bytes) { return counted_allocate(bytes); }
void release_node_elsewhere(void* node, std::size_t /*bytes*/) noexcept { counted_free(node); }
NodePoolStats node_pool_stats() noexcept { return large_node_stats(); }

#else

namespace {

constexpr std::uint32_t batch_nodes = FreeNodes::most / 2;
constexpr std::size_t retained_bytes = std::size_t{64} << 20;
static_assert(Depot::most <= FreeNodes::most);

// It is never destroyed, because the last node may be released after the last static destructor.
union NeverDestroyed {
  constexpr NeverDestroyed() noexcept
      : depots{
            Depot(node_class_bytes[0], retained_bytes), Depot(node_class_bytes[1], retained_bytes),
            Depot(node_class_bytes[2], retained_bytes), Depot(node_class_bytes[3], retained_bytes),
            Depot(node_class_bytes[4], retained_bytes), Depot(node_class_bytes[5], retained_bytes),
            Depot(node_class_bytes[6], retained_bytes), Depot(node_class_bytes[7], retained_bytes),
            Depot(node_class_bytes[8], retained_bytes)} {}
  ~NeverDestroyed() {}

  std::array<Depot, node_class_bytes.size()> depots;
};
constinit NeverDestroyed pool;

constinit thread_local bool thread_ended = false;

void close_cache(void* closing) noexcept {
  thread_ended = true;
  node_cache = &closed_cache;
  auto* const cache = static_cast<NodeCache*>(closing);
  for (std::size_t i = 0; i < node_class_bytes.size(); ++i) {
    pool.depots[i].put(std::span((*cache)[i].nodes(), (*cache)[i].count));
  }
  std::free(cache);
}

// A key is used rather than a thread_local destructor. Registering a key cannot abort for want of
// memory, and its destructor runs after the thread_local objects, which may release nodes.
struct ExitKey {
  pthread_key_t key{};
  bool made = pthread_key_create(&key, close_cache) == 0;
};

// Returns false when this thread has to do without a cache.
bool open_cache() noexcept {
  static const ExitKey exit_key;
  if (thread_ended || !exit_key.made) return false;
  void* const memory = std::malloc(sizeof(NodeCache));
  if (memory == nullptr) return false;
  if (pthread_setspecific(exit_key.key, memory) != 0) {
    std::free(memory);
    return false;
  }
  node_cache = new (memory) NodeCache;
  for (FreeNodes& free : *node_cache) free.open();
  return true;
}

// Whether this thread has a cache from now on.
bool cache_ready() noexcept { return node_cache->front().is_open() || open_cache(); }

void* allocate_without_cache(Depot& depot) {
  std::array<void*, Depot::most> nodes{};
  const std::size_t count = depot.take(nodes.data());
  if (count == 0) throw std::bad_alloc();
  depot.put(std::span(nodes).first(count - 1));
  return nodes[count - 1];
}

void* allocate_of(std::size_t class_number) {
  Depot& depot = pool.depots[class_number];
  if (!cache_ready()) return allocate_without_cache(depot);
  FreeNodes& free = (*node_cache)[class_number];
  if (free.is_empty()) free.count = static_cast<std::uint32_t>(depot.take(free.nodes()));
  if (free.is_empty()) throw std::bad_alloc();
  return free.pop();
}

void release_of(std::size_t class_number, void* node) noexcept {
  Depot& depot = pool.depots[class_number];
  if (!cache_ready()) return depot.put({&node, 1});
  FreeNodes& free = (*node_cache)[class_number];
  if (free.is_full()) {
    free.count -= batch_nodes;
    depot.put(std::span(free.nodes() + free.count, batch_nodes));
  }
  free.push(node);
}

}  // namespace

void* allocate_node_elsewhere(std::size_t bytes) {
  if (bytes > largest_node_class) return counted_allocate(bytes);
  return allocate_of(node_class_of(bytes));
}

void release_node_elsewhere(void* node, std::size_t bytes) noexcept {
  if (bytes > largest_node_class) return counted_free(node);
  release_of(node_class_of(bytes), node);
}

NodePoolStats node_pool_stats() noexcept {
  NodePoolStats stats = large_node_stats();
  for (const Depot& depot : pool.depots) {
    stats.backing_allocations += depot.chunks_made();
    stats.backing_releases += depot.slabs_trimmed();
  }
  return stats;
}

#endif

}  // namespace HEIST_NAMESPACE::detail
