// Stress of the node pool and of its depot.
//
// pool round   Makers allocate nodes, stamp every word and hand them over. Users check the stamps
//              and release the nodes. Both are new threads each round, so caches come and go. If a
//              node is given out twice, or before its user has finished with it, it shows a foreign
//              stamp. The hand-over orders only makers before users. The pool has to order a user's
//              reads before the next maker's writes; if it does not, ThreadSanitizer reports that.
// depot round  Slabs are emptied, filled, listed and unlisted all the time. One depot trims them
//              whenever they are whole, and another one never does. Each node is stamped by its one
//              owner, and in the end each node has to be found again.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <heist/detail/sync.hpp>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

#include "heist/memory/depot.hpp"
#include "heist/memory/node_pool.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;

struct Totals {
  std::uint64_t nodes = 0;
  std::uint64_t depot_nodes = 0;
  std::uint64_t trims = 0;
};

// --- pool round ---

constexpr std::array<std::size_t, 8> sizes{40, 64, 96, 128, 160, 256, 512, 700};

struct Parcel {
  std::size_t bytes = 0;
  std::uint64_t stamp = 0;
};
static_assert(sizeof(Parcel) <= sizes[0]);

std::span<std::uint64_t> words_after_parcel(Parcel* parcel) {
  auto* const words = reinterpret_cast<std::uint64_t*>(parcel + 1);
  return {words, (parcel->bytes - sizeof(Parcel)) / sizeof(std::uint64_t)};
}

// Edge stress: hand_over -> take_over. Carries a parcel; makers publish and observe nothing.
using Mailbox = std::array<sync::atomic<Parcel*>, 16>;

bool hand_over(Mailbox& mailbox, Parcel* parcel) {
  return std::ranges::any_of(mailbox, [parcel](sync::atomic<Parcel*>& place) {
    Parcel* vacant = nullptr;
    return place.compare_exchange_strong(vacant, parcel,
                                         sync::edge("stress:hand_over", sync::release),
                                         sync::relaxed);  // relaxed: a failure carries nothing
  });
}

void make(Mailbox& mailbox, Random random, std::uint64_t maker, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t bytes = sizes[random() % sizes.size()];
    auto* const parcel = new (allocate_node(bytes)) Parcel{bytes, (maker << 40) | i};
    std::ranges::fill(words_after_parcel(parcel), parcel->stamp);
    while (!hand_over(mailbox, parcel)) std::this_thread::yield();
  }
}

void use(Parcel* parcel) {
  const Parcel copy = *parcel;
  for (const std::uint64_t word : words_after_parcel(parcel)) {
    check(word == copy.stamp, "a node in use was handed out again");
  }
  check(copy.bytes == parcel->bytes && copy.stamp == parcel->stamp, "a node in use changed");
  release_node(parcel, copy.bytes);
}

std::uint64_t use_all(Mailbox& mailbox, Random random, std::uint64_t count) {
  std::vector<Parcel*> held;
  std::uint64_t taken = 0;
  while (taken < count) {
    for (sync::atomic<Parcel*>& place : mailbox) {
      Parcel* const parcel = place.exchange(nullptr, sync::edge("stress:take_over", sync::acquire));
      if (parcel == nullptr) continue;
      held.push_back(parcel);
      ++taken;
    }
    if (held.size() > random() % 200) {
      std::ranges::for_each(held, use);
      held.clear();
    }
    std::this_thread::yield();
  }
  std::ranges::for_each(held, use);
  return taken;
}

std::uint64_t pool_round(std::uint64_t seed) {
  constexpr std::uint64_t pairs = 2;
  constexpr std::uint64_t parcels = 5'000;
  std::array<Mailbox, pairs> mailboxes{};
  std::vector<std::jthread> threads;
  for (std::uint64_t i = 0; i < pairs; ++i) {
    const auto seed_of = [&](std::uint64_t role) { return Random(seed + 2 * i + role); };
    threads.emplace_back(make, std::ref(mailboxes[i]), seed_of(0), i + 1, parcels);
    threads.emplace_back(use_all, std::ref(mailboxes[i]), seed_of(1), parcels);
  }
  return pairs * parcels;
}

// --- depot round ---

constexpr std::size_t node_bytes = 512;
constexpr std::size_t traders = 4;
constexpr std::size_t hand_limit = 200;
constexpr std::size_t nodes_in_slab = (Slab::bytes - Slab::header_bytes) / node_bytes;

using Contents = std::array<std::uint64_t, node_bytes / sizeof(std::uint64_t)>;

void stamp(void* node, std::uint64_t trader) { (new (node) Contents)->fill(trader); }

void check_stamp(void* node, std::uint64_t trader) {
  const Contents& contents = *static_cast<const Contents*>(node);
  check(std::ranges::all_of(contents, [trader](std::uint64_t word) { return word == trader; }),
        "a node has two owners");
}

// Takes nodes and puts random portions of them back, until it has none left. Returns how many it
// took.
std::uint64_t trade(Depot& depot, std::uint64_t trader, Random random) {
  std::vector<void*> hand;
  std::array<void*, Depot::most> taken{};
  std::uint64_t moved = 0;
  const auto put = [&](std::size_t portion) {
    const std::span<void*> nodes = std::span(hand).last(portion);
    for (void* const node : nodes) check_stamp(node, trader);
    depot.put(nodes);
    hand.resize(hand.size() - portion);
  };
  for (int i = 0; i < 100; ++i) {
    const std::size_t count = hand.size() < hand_limit ? depot.take(taken.data()) : 0;
    for (void* const node : std::span(taken).first(count)) stamp(node, trader);
    hand.insert(hand.end(), taken.begin(), taken.begin() + static_cast<std::ptrdiff_t>(count));
    std::ranges::shuffle(hand, random);
    put(std::min<std::size_t>(hand.size(), random() % hand_limit));
    moved += count;
  }
  put(hand.size());
  return moved;
}

// Checks I2 of Depot at a quiet point: when no node is out, all nodes of all slabs are found.
void check_all_found(Depot& depot) {
  const std::uint64_t chunks = depot.chunks_made();
  const std::size_t all = chunks * Depot::slabs_in_chunk * nodes_in_slab;
  std::vector<void*> nodes;
  std::array<void*, Depot::most> taken{};
  while (nodes.size() < all) {
    const std::size_t count = depot.take(taken.data());
    nodes.insert(nodes.end(), taken.begin(), taken.begin() + static_cast<std::ptrdiff_t>(count));
    check(depot.chunks_made() == chunks, "free nodes were not found");
  }
  std::ranges::sort(nodes);
  check(std::ranges::adjacent_find(nodes) == nodes.end(), "a node was found twice");
}

void depot_round(std::uint64_t seed, std::size_t retained, Totals& totals) {
  Depot depot(node_bytes, retained);
  std::array<std::uint64_t, traders> moved{};
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < traders; ++i) {
      const Random random(seed + i);
      threads.emplace_back([&, i, random] { moved[i] = trade(depot, i + 1, random); });
    }
  }
  check_all_found(depot);
  totals.trims += depot.slabs_trimmed();
  totals.depot_nodes += std::accumulate(moved.begin(), moved.end(), std::uint64_t{0});
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("node_pool_stress", {argv, static_cast<std::size_t>(argc)});
  Totals totals;
  const auto rounds = run_rounds(options, [&totals](Random& random) {
    const std::uint64_t seed = random();
    totals.nodes += pool_round(seed);
    depot_round(seed, 0, totals);
    depot_round(seed, SIZE_MAX / 2, totals);
  });
  const NodePoolStats stats = node_pool_stats();
  std::printf("rounds %llu, nodes %llu, backing allocations %llu, releases %llu\n",
              printable(rounds), printable(totals.nodes), printable(stats.backing_allocations),
              printable(stats.backing_releases));
  std::printf("depot nodes %llu, trims %llu\n", printable(totals.depot_nodes),
              printable(totals.trims));
  check(totals.trims > 0, "no slab was ever trimmed: the depot round tested too little");
}
