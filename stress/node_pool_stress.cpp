// Stress of the node pool and of its depot.
//
// pool round   makers allocate nodes, stamp every word and hand them over; users check the stamps
//              and release; both are new threads each round, so caches come and go. A node handed
//              out twice, or released before its user has done with it, shows a foreign stamp.
//              Hand-over orders makers before users only: what orders a user's reads before the
//              next maker's writes is the pool, and ThreadSanitizer says so if it does not.
// depot round  a depot of 3 batches, so that full, empty and immediate re-use are the rule; tokens
//              with plain contents pass through it and must all be there at the end, once.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <heist/sync.hpp>
#include <random>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "heist/concurrent/depot.hpp"
#include "heist/concurrent/node_pool.hpp"

namespace {

using namespace heist;
using Random = std::minstd_rand;

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "FAILED: %s\n", what);
  std::abort();
}

struct Options {
  std::chrono::seconds duration{2};
  std::uint64_t seed = std::random_device{}();
};

Options parse(std::span<char*> arguments) {
  Options options;
  for (std::size_t i = 1; i + 1 < arguments.size(); i += 2) {
    const std::uint64_t value = std::strtoull(arguments[i + 1], nullptr, 10);
    const std::string_view name = arguments[i];
    if (name == "--seconds") {
      options.duration = std::chrono::seconds(value);
    } else if (name == "--seed") {
      options.seed = value;
    } else {
      check(false, "usage: node_pool_stress [--seconds N] [--seed N]");
    }
  }
  return options;
}

struct Totals {
  std::uint64_t nodes = 0;
  std::uint64_t rounds = 0;
  std::uint64_t tokens_moved = 0;
};

// --- pool round ---------------------------------------------------------------------------------

constexpr std::array<std::size_t, 8> sizes{40, 64, 96, 128, 192, 256, 512, 700};

struct Parcel {
  std::size_t bytes = 0;
  std::uint64_t stamp = 0;
};
static_assert(sizeof(Parcel) <= sizes[0]);

std::span<std::uint64_t> words_after_parcel(Parcel* parcel) {
  auto* const words = reinterpret_cast<std::uint64_t*>(parcel + 1);
  return {words, (parcel->bytes - sizeof(Parcel)) / sizeof(std::uint64_t)};
}

// E: the hand-over. Makers publish with release and observe nothing.
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
    const auto seed_of = [&](std::uint64_t role) {
      return Random(static_cast<Random::result_type>(seed + 2 * i + role));
    };
    threads.emplace_back(make, std::ref(mailboxes[i]), seed_of(0), i + 1, parcels);
    threads.emplace_back(use_all, std::ref(mailboxes[i]), seed_of(1), parcels);
  }
  return pairs * parcels;
}

// --- depot round --------------------------------------------------------------------------------

struct Token {
  std::uint64_t times_moved = 0;
};

constexpr std::size_t traders = 4;
constexpr std::size_t tokens_each = 20;

// Puts random portions of its tokens, takes what it finds; keeps what it has at the end.
void trade(Depot& depot, std::vector<void*>& hand, Random random) {
  std::array<void*, NodeBatch::capacity> taken{};
  for (int i = 0; i < 2'000; ++i) {
    const std::size_t portion = std::min<std::size_t>(hand.size(), 1 + random() % 12);
    const std::size_t kept = hand.size() - portion;
    if (portion != 0 && depot.put(std::span(hand).subspan(kept))) hand.resize(kept);
    const std::size_t count = random() % 2 == 0 ? depot.take(taken.data()) : 0;
    for (void* const token : std::span(taken).first(count)) {
      ++static_cast<Token*>(token)->times_moved;
      hand.push_back(token);
    }
  }
}

std::uint64_t depot_round(std::uint64_t seed) {
  std::array<NodeBatch, 3> table{};
  Depot depot(table);
  std::array<Token, traders * tokens_each> tokens{};
  std::array<std::vector<void*>, traders> hands;
  for (std::size_t i = 0; i < tokens.size(); ++i) hands[i % traders].push_back(&tokens[i]);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < traders; ++i) {
      threads.emplace_back(trade, std::ref(depot), std::ref(hands[i]),
                           Random(static_cast<Random::result_type>(seed + i)));
    }
  }
  std::vector<void*> all;
  for (const std::vector<void*>& hand : hands) all.insert(all.end(), hand.begin(), hand.end());
  std::array<void*, NodeBatch::capacity> rest{};
  while (const std::size_t count = depot.take(rest.data())) {
    all.insert(all.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(count));
  }
  std::ranges::sort(all);
  check(all.size() == tokens.size(), "the depot lost or invented a token");
  check(std::ranges::adjacent_find(all) == all.end(), "the depot handed a token out twice");
  std::uint64_t moved = 0;
  for (const Token& token : tokens) moved += token.times_moved;
  return moved;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse({argv, static_cast<std::size_t>(argc)});
  std::printf("node_pool_stress: seed %llu\n", static_cast<unsigned long long>(options.seed));
  const auto end = std::chrono::steady_clock::now() + options.duration;
  Totals totals;
  do {
    const std::uint64_t seed = options.seed + 1'000 * totals.rounds;
    totals.nodes += pool_round(seed);
    totals.tokens_moved += depot_round(seed);
    ++totals.rounds;
  } while (std::chrono::steady_clock::now() < end);
  const NodePoolStats stats = node_pool_stats();
  std::printf(
      "rounds %llu, nodes %llu, backing allocations %llu, releases %llu, tokens moved %llu\n",
      static_cast<unsigned long long>(totals.rounds), static_cast<unsigned long long>(totals.nodes),
      static_cast<unsigned long long>(stats.backing_allocations),
      static_cast<unsigned long long>(stats.backing_releases),
      static_cast<unsigned long long>(totals.tokens_moved));
  check(totals.tokens_moved > 0, "no token ever moved: the depot round tested nothing");
  check(stats.backing_allocations >= stats.backing_releases, "more released than allocated");
}
