#include "memory.hpp"

#include <algorithm>
#include <cstring>

namespace heist::model {

namespace {

bool acquires(std::memory_order order) noexcept {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

bool releases(std::memory_order order) noexcept {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

}  // namespace

Word read_raw(Cell cell) noexcept {
  Word value = 0;
  std::memcpy(&value, cell.address, cell.bytes);
  return value;
}

void write_raw(Cell cell, Word value) noexcept { std::memcpy(cell.address, &value, cell.bytes); }

Word applied(Update what, Word before, Word operand, unsigned bytes) noexcept {
  const Word mask = bytes == sizeof(Word) ? ~Word{0} : (Word{1} << (8 * bytes)) - 1;
  switch (what) {
    case Update::exchange:
      return operand;
    case Update::add:
      return (before + operand) & mask;
    case Update::subtract:
      return (before - operand) & mask;
    case Update::bit_or:
      return before | operand;
    case Update::bit_and:
      break;
  }
  return before & operand;
}

void Memory::History::reset() noexcept {
  stores.clear();
  for (auto& seen : sightings) seen.clear();
  stale_reads.fill(0);
  seq_cst_floor = 0;
}

Memory::History& Memory::history(Cell cell) {
  auto [found, is_new] = histories_[reinterpret_cast<std::uintptr_t>(cell.address)];
  // Older than the execution: everybody knows it.
  if (is_new) found.stores.push_back({read_raw(cell), {}, false, false});
  return found;
}

void Memory::created(Viewer viewer, Cell cell, Word value) {
  History& fresh = histories_[reinterpret_cast<std::uintptr_t>(cell.address)].entry;
  fresh.reset();
  append(fresh, viewer, made(viewer, value, std::memory_order_relaxed, nullptr),
         std::memory_order_relaxed);
}

std::uint32_t Memory::floor(const History& history, Viewer viewer, bool seq_cst) {
  std::uint32_t oldest = seq_cst ? history.seq_cst_floor : 0;
  for (ThreadId thread = 0; thread < max_threads; ++thread) {
    const auto& seen = history.sightings[static_cast<std::size_t>(thread)];
    for (auto sighting = seen.rbegin(); sighting != seen.rend(); ++sighting) {
      if (!viewer.clock.covers(thread, sighting->epoch)) continue;
      oldest = std::max(oldest, sighting->store);
      break;
    }
  }
  return oldest;
}

void Memory::see(History& history, Viewer viewer, std::uint32_t store, std::memory_order order) {
  auto& seen = history.sightings[static_cast<std::size_t>(viewer.thread)];
  if (seen.empty() || seen.back().store < store) {
    seen.push_back({viewer.clock[viewer.thread], store});
  }
  if (order == std::memory_order_seq_cst) {
    history.seq_cst_floor = std::max(history.seq_cst_floor, store);
  }
  if (acquires(order)) viewer.clock.join(history.stores[store].released);
}

Memory::Store Memory::made(Viewer viewer, Word value, std::memory_order order,
                           const Store* replaced) {
  Store store{value, {}, false, replaced != nullptr};
  if (replaced != nullptr && replaced->has_release) {
    store.released = replaced->released;
    store.has_release = true;
  }
  if (releases(order)) {
    store.released.join(viewer.clock);
    store.has_release = true;
  }
  return store;
}

void Memory::append(History& history, Viewer viewer, const Store& store, std::memory_order order) {
  history.stores.push_back(store);
  see(history, viewer, history.last(),
      order == std::memory_order_seq_cst ? order : std::memory_order_relaxed);
}

void Memory::History::insert(std::uint32_t place, const Store& store) {
  stores.insert(stores.begin() + place, store);
  for (auto& seen : sightings) {
    for (Sighting& sighting : seen) sighting.store += sighting.store >= place ? 1 : 0;
  }
  if (seq_cst_floor >= place) ++seq_cst_floor;
}

std::uint32_t Memory::pick(History& from, Viewer viewer, bool seq_cst, Path& path) {
  const std::uint32_t oldest = floor(from, viewer, seq_cst);
  int& stale = from.stale_reads[static_cast<std::size_t>(viewer.thread)];
  const auto candidates = stale < stale_limit ? from.last() - oldest + 1 : 1;
  const auto age = static_cast<std::uint32_t>(path.choose(static_cast<int>(candidates)));
  stale = age == 0 ? 0 : stale + 1;
  return from.last() - age;
}

Word Memory::load(Viewer viewer, Cell cell, std::memory_order order, Path& path) {
  History& from = history(cell);
  const std::uint32_t chosen = pick(from, viewer, order == std::memory_order_seq_cst, path);
  see(from, viewer, chosen, order);
  return from.stores[chosen].value;
}

void Memory::store(Viewer viewer, Cell cell, Word value, std::memory_order order, Path& path) {
  History& of = history(cell);
  const bool seq_cst = order == std::memory_order_seq_cst;
  // Where it may stand, the end first.
  const std::uint32_t first = floor(of, viewer, seq_cst) + 1;
  const std::uint32_t end = of.last() + 1;
  std::array<std::uint32_t, max_places> places{end};
  int count = 1;
  for (std::uint32_t place = end - 1; place >= first && count < max_places; --place) {
    if (!of.stores[place].is_update) places[static_cast<std::size_t>(count++)] = place;
  }
  const std::uint32_t place = places[static_cast<std::size_t>(path.choose(count))];
  const Store store = made(viewer, value, order, nullptr);
  if (place == end) {
    append(of, viewer, store, order);
    return write_raw(cell, value);
  }
  of.insert(place, store);
  see(of, viewer, place, seq_cst ? order : std::memory_order_relaxed);
}

Word Memory::newest(Cell cell) { return history(cell).stores.back().value; }

Word Memory::replace(Viewer viewer, Cell cell, Word value, std::memory_order order) {
  History& of = history(cell);
  see(of, viewer, of.last(), order);
  const Store replaced = of.stores.back();
  append(of, viewer, made(viewer, value, order, &replaced), order);
  write_raw(cell, value);
  return replaced.value;
}

Memory::Comparison Memory::compare(Viewer viewer, Cell cell, Word expected,
                                   std::memory_order failure, Path& path) {
  History& of = history(cell);
  std::uint32_t read = pick(of, viewer, failure == std::memory_order_seq_cst, path);
  // What matches is replaced, and that can be the newest only.
  if (of.stores[read].value == expected) read = of.last();
  const Word value = of.stores[read].value;
  if (value == expected) return {true, expected};
  see(of, viewer, read, failure);
  return {false, value};
}

}  // namespace heist::model
