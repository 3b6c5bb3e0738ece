#include "shadow.hpp"

#include <algorithm>

namespace heist::model {

using namespace detail;

namespace {

std::uint8_t mask(std::uintptr_t granule, std::uintptr_t begin, std::uintptr_t end) noexcept {
  const auto first = begin > granule ? begin - granule : 0;
  const auto last = std::min<std::uintptr_t>(end - granule, 8);
  return static_cast<std::uint8_t>((0xffU << first) & (0xffU >> (8 - last)));
}

bool conflict(const Access& earlier, const Access& later, const VectorClock& clock) noexcept {
  if ((earlier.bytes & later.bytes) == 0) return false;
  if (earlier.kind == AccessKind::release) return true;
  if (earlier.kind == AccessKind::read && later.kind == AccessKind::read) return false;
  return !clock.covers(earlier.thread, earlier.epoch);
}

}  // namespace

void Shadow::forget_all() noexcept {
  granules_.forget_all();
  touched_.clear();
  freed_ranges_.clear();
}

std::optional<Conflict> Shadow::touch(ThreadId thread, const VectorClock& clock, const void* begin,
                                      std::size_t bytes, AccessKind kind, Code code) {
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  const auto end = first + bytes;
  Access access{code, clock[thread], static_cast<std::int8_t>(thread), kind, 0xff};
  for (const FreedRange& range : freed_ranges_) {
    if (first < range.end && end > range.begin) return Conflict{range.freed, access};
  }
  if (kind == AccessKind::release && bytes > large) {
    freed_ranges_.push_back({first, end, access});
    return before_release(access, clock, first, end);
  }
  for (auto granule = first & ~std::uintptr_t{7}; granule < end; granule += 8) {
    access.bytes = mask(granule, first, end);
    auto [entry, is_new] = granules_[granule];
    if (is_new) touched_.push_back(granule);
    if (auto found = entry.touch(access, clock)) return found;
  }
  return std::nullopt;
}

std::optional<Conflict> Shadow::before_release(Access access, const VectorClock& clock,
                                               std::uintptr_t first, std::uintptr_t end) {
  for (const std::uintptr_t granule : touched_) {
    if (granule >= end || granule + 8 <= first) continue;
    access.bytes = mask(granule, first, end);
    if (auto found = granules_[granule].entry.touch(access, clock)) return found;
  }
  return std::nullopt;
}

std::optional<Conflict> Shadow::Granule::touch(const Access& access, const VectorClock& clock) {
  for (std::size_t i = 0; i < count; ++i) {
    if (conflict(accesses[i], access, clock)) return Conflict{accesses[i], access};
  }
  forget(access.bytes, access.thread, access.kind);
  if (count == capacity) --count;  // Keeps the older ones: those of few threads are all that fit.
  accesses[count++] = access;
  return std::nullopt;
}

/// What a new access makes superfluous: later ones that conflict with the old would with the new.
void Shadow::Granule::forget(std::uint8_t bytes, ThreadId thread, AccessKind kind) noexcept {
  for (std::size_t i = 0; i < count;) {
    Access& old = accesses[i];
    const bool covered =
        kind != AccessKind::read || (old.thread == thread && old.kind == AccessKind::read);
    if (covered) old.bytes &= static_cast<std::uint8_t>(~bytes);
    if (old.bytes == 0) {
      old = accesses[--count];
    } else {
      ++i;
    }
  }
}

}  // namespace heist::model
