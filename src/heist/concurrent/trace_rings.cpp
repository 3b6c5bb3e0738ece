#include "trace_rings.hpp"

#include <utility>

namespace HEIST_NAMESPACE::detail {

TraceRings::TraceRings(std::size_t events, std::size_t threads)
    : events_(events), free_(threads), begins_(threads) {
  for (std::size_t i = 0; i < threads; ++i) rings_.emplace_back(events);
}

void TraceRings::begin() noexcept {
  for (std::size_t i = 0; i < begins_.size(); ++i) {
    if (rings_[i].is_left()) {
      free_.fetch_add(1, sync::relaxed);  // relaxed: as in claim().
      rings_[i].free();
    }
    begins_[i] = rings_[i].count();
  }
  without_ring_.store(0, sync::relaxed);  // relaxed: a statistic.
}

TracedEvents TraceRings::read() const {
  TracedEvents all;
  for (std::size_t i = 0; i < begins_.size(); ++i) {
    const TraceRing& ring = rings_[i];
    if (ring.count() == begins_[i]) continue;
    TracedEvents::OfThread found{.thread = ring.thread(), .events = {}};
    const std::uint64_t overwritten = ring.read(begins_[i], found.events);
    found.lacks_some = overwritten != 0;
    all.overwritten += overwritten;
    all.threads.push_back(std::move(found));
  }
  all.without_ring = without_ring_.load(sync::relaxed);  // relaxed: a statistic.
  return all;
}

TraceRing* TraceRings::claim() noexcept {
  // relaxed: whoever has found the rings of this trace sees what its start has freed. A
  // thread that is late, from an earlier trace, may lose its event.
  if (free_.load(sync::relaxed) == 0) return nullptr;
  for (TraceRing& ring : rings_) {
    if (!ring.try_claim()) continue;
    free_.fetch_sub(1, sync::relaxed);  // relaxed: as above.
    return &ring;
  }
  return nullptr;
}

}  // namespace HEIST_NAMESPACE::detail
