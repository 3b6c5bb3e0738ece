// Storage that goes from thread to thread: nodes in a depot, registrations in a signal's registry.
#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "../support.hpp"
#include "concurrent/registry.hpp"
#include "memory/depot.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

/// Three nodes fill a slab, so that slabs come and go with a few.
constexpr std::size_t node_bytes = (Slab::bytes - Slab::header_bytes) / 3 / 64 * 64;

std::size_t take(Depot& depot, std::array<void*, Depot::most>& nodes) {
  const Operation operation("take nodes");
  return depot.take(nodes.data());
}

void give(Depot& depot, std::span<void* const> nodes) {
  const Operation operation("give nodes back");
  depot.put(nodes);
}

/// Takes nodes, writes to each, looks again, and gives them back: one, then the others.
void use_nodes(Depot& depot, int mark) {
  std::array<void*, Depot::most> nodes{};
  const std::size_t count = take(depot, nodes);
  check(count > 0, "there is memory");
  for (std::size_t i = 0; i < count; ++i) *static_cast<int*>(nodes[i]) = mark;
  for (std::size_t i = 0; i < count; ++i) {
    check(*static_cast<int*>(nodes[i]) == mark, "a node has one owner");
  }
  give(depot, std::span<void* const>(nodes.data(), 1));
  give(depot, std::span<void* const>(nodes.data() + 1, count - 1));
}

/// Every node of the chunks there are can be taken.
void check_none_lost(Depot& depot) {
  const auto chunks = depot.chunks_made();
  const std::size_t all = chunks * Depot::slabs_in_chunk * 3;
  std::array<void*, Depot::most> nodes{};
  for (std::size_t found = 0; found < all;) found += depot.take(nodes.data());
  check(depot.chunks_made() == chunks, "no node is lost");
}

void use_nodes_in_two_threads(std::size_t retained_bytes, int rounds) {
  Depot depot(node_bytes, retained_bytes);
  spawn([&] {
    for (int i = 1; i <= rounds; ++i) use_nodes(depot, i);
  });
  use_nodes(depot, -1);
  if (join_all()) check_none_lost(depot);
}

}  // namespace

/// Nodes are taken and given back by two threads, and slabs are made by both.
HEIST_MODEL_PROGRAM(depot_gives_each_node_to_one, 1) { use_nodes_in_two_threads(1 << 30, 2); }

/// A slab is emptied while another thread gives a node of it back: the slab is listed again by one
/// of them.
HEIST_MODEL_PROGRAM(depot_give_against_last_harvest, 2) {
  Depot depot(node_bytes, 1 << 30);
  std::array<void*, Depot::most> nodes{};
  const std::size_t count = depot.take(nodes.data());
  depot.put(std::span<void* const>(nodes.data(), 1));
  spawn([&] { give(depot, std::span<void* const>(nodes.data() + 1, count - 1)); });
  use_nodes(depot, 1);
  if (join_all()) check_none_lost(depot);
}

/// The same, while each wholly free slab is trimmed.
HEIST_MODEL_PROGRAM(depot_trims_free_slabs, 1) { use_nodes_in_two_threads(0, 1); }

namespace {

/// A registration with plain contents, that its registry frees.
struct Entry : Registration {
  explicit Entry(bool is_dead) : Registration(table), dead(is_dead) {}

  static Entry& of(Registration& registration) { return static_cast<Entry&>(registration); }
  static bool claim(Registration& registration) noexcept {
    return !of(registration).dead.exchange(true, sync::acq_rel);
  }
  static bool is_dead(const Registration& registration) noexcept {
    return static_cast<const Entry&>(registration).dead.load(sync::acquire);
  }
  static void forget(Registration& registration) noexcept { delete &of(registration); }
  static constexpr Ops table{&claim, &is_dead, &forget, Registration::Kind::task};

  sync::atomic<bool> dead;
  int contents = 1;
};

/// One that lives. Its claim takes over its registry's share, as that of a task does.
struct LiveEntry : Registration {
  LiveEntry() : Registration(table) {}

  static LiveEntry& of(Registration& registration) { return static_cast<LiveEntry&>(registration); }
  static bool claim(Registration& registration) noexcept { return of(registration).taken = true; }
  static bool is_dead(const Registration& registration) noexcept {
    check(static_cast<const LiveEntry&>(registration).contents == 1, "the entry is there");
    return false;
  }
  static void forget(Registration& registration) noexcept {
    if (!of(registration).taken) of(registration).drop();
  }
  static void restore_share(Registration& registration) noexcept {
    if (std::exchange(of(registration).taken, false)) of(registration).shares.add();
  }
  void drop() noexcept {
    if (!shares.drop()) return;
    contents = 0;
    delete this;
  }
  static constexpr Ops table{&claim, &is_dead, &forget, Registration::Kind::task, &restore_share};

  RefCount shares{1};
  bool taken = false;
  int contents = 1;
};

/// So many dead entries that the next death prunes.
void add_dead(Registry& registry) {
  for (int i = 0; i < 18; ++i) {
    if (!registry.add(*new Entry(true))) return;
  }
  for (int i = 0; i < 15; ++i) registry.note_dead();
}

/// So many dead entries that the next add makes what passes need, and the next death is due. Their
/// number stands for adds that overlapped and were counted as one.
void add_before_passes(Registry& registry) {
  for (int i = 0; i < 8; ++i) check(registry.add(*new Entry(true)), "open");
  for (int i = 0; i < 15; ++i) registry.note_dead();
}

/// A pass has been half way, up to a live entry; the next death goes on with it.
void begin_pass(Registry& registry) {
  for (int i = 0; i < 4; ++i) check(registry.add(*new Entry(true)), "open");
  check(registry.add(*new Entry(false)), "open");
  for (int i = 0; i < 64; ++i) check(registry.add(*new Entry(true)), "open");
  for (int i = 0; i < 23; ++i) registry.note_dead();
}

/// How many entries the registry has, dead ones included.
int count_in(Registry& registry) {
  int count = 0;
  registry.walk([&count](Registration& /*registration*/) { ++count; });
  return count;
}

int live_in(Registry& registry, bool close) {
  int live = 0;
  const auto visit = [&live](Registration& registration) {
    check(Entry::of(registration).contents == 1, "the entry is there");
    if (!Entry::is_dead(registration)) ++live;
  };
  close ? registry.close(visit) : registry.walk(visit);
  return live;
}

}  // namespace

/// One thread prunes while another walks: it meets every live entry, and none that was freed.
HEIST_MODEL_PROGRAM(registry_prune_against_walk, 2) {
  Registry registry;
  check(registry.add(*new Entry(false)), "open");
  add_dead(registry);
  spawn([&] { registry.note_dead(); });
  spawn([&] { check(live_in(registry, false) == 1, "the walk met the live entry"); });
  join_all();
}

/// Two adds want to make what passes need: one of them does. The death that is due at once finds it
/// whole, or prunes nothing.
HEIST_MODEL_PROGRAM(registry_two_make_passes, 2) {
  Registry registry;
  add_before_passes(registry);
  spawn([&] { check(registry.add(*new Entry(true)), "open"); });
  spawn([&] {
    check(registry.add(*new Entry(true)), "open");
    registry.note_dead();
  });
  if (join_all()) check(live_in(registry, false) == 0, "no live entry");
}

/// One adds while another walks: what it meets is whole.
HEIST_MODEL_PROGRAM(registry_add_against_walk, 3) {
  Registry registry;
  spawn([&] { check(registry.add(*new Entry(false)), "open"); });
  spawn([&] { check(live_in(registry, false) <= 1, "met once at the most"); });
  join_all();
}

/// One prunes, one closes, one adds and makes what passes need: its entry is met by the close, or
/// refused. Who closes may know of the new passes only from the pruner that it meets.
HEIST_MODEL_PROGRAM(registry_close_against_add_and_prune, 2) {
  Registry registry;
  add_before_passes(registry);
  bool added = false;
  int met = 0;
  spawn([&] { registry.note_dead(); });
  spawn([&] { met = live_in(registry, true); });
  spawn([&] {
    auto entry = std::make_unique<Entry>(false);
    added = registry.add(*entry);
    if (added) static_cast<void>(entry.release());
  });
  if (!join_all()) return;
  check(met == (added ? 1 : 0), "added and met, or refused");
}

/// One closes and takes over the share of an entry, which it then drops, while another prunes and
/// may stand on that entry.
HEIST_MODEL_PROGRAM(registry_close_takes_share_against_prune, 2) {
  Registry registry;
  check(registry.add(*new LiveEntry), "open");
  add_dead(registry);
  spawn([&] { registry.note_dead(); });
  spawn([&] {
    LiveEntry* claimed = nullptr;
    registry.close([&claimed](Registration& registration) {
      if (registration.ops != &LiveEntry::table) return;
      if (registration.ops->claim(registration)) claimed = &LiveEntry::of(registration);
    });
    check(claimed != nullptr, "the close met the live entry");
    claimed->drop();
  });
  join_all();
}

/// One goes on with a pass that another has begun, while a third one walks: the place where it goes
/// on is in the list, and the living are met.
HEIST_MODEL_PROGRAM(registry_pass_in_two_portions_against_walk, 1) {
  Registry alone;
  begin_pass(alone);
  check(count_in(alone) == 6, "the first portion leaves the newest, the live one and four");
  alone.note_dead();
  check(count_in(alone) == 2, "the second one takes the four");

  Registry registry;
  check(registry.add(*new Entry(false)), "open");
  begin_pass(registry);
  spawn([&] { registry.note_dead(); });
  spawn([&] { check(live_in(registry, false) == 2, "the walk met the live entries"); });
  join_all();
}

/// The same against a close: who comes after it does not go on where what was freed had been.
HEIST_MODEL_PROGRAM(registry_pass_in_two_portions_against_close, 1) {
  Registry registry;
  begin_pass(registry);
  int met = 0;
  spawn([&] { registry.note_dead(); });
  spawn([&] { met = live_in(registry, true); });
  if (join_all()) check(met == 1, "the close met the live entry");
}
