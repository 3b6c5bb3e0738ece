#include "trace_rings.hpp"

#include <utility>

namespace HEIST_NAMESPACE::detail {

TraceRings::TraceRings(std::size_t events, std::size_t threads)
    : events_(events), begins_(threads) {
  for (std::size_t i = 0; i < threads; ++i) rings_.emplace_back(events);
}

void TraceRings::begin() noexcept {
  for (std::size_t i = 0; i < begins_.size(); ++i) begins_[i] = rings_[i].begin();
  without_ring_.store(0, sync::relaxed);  // relaxed: a statistic.
}

TracedEvents TraceRings::read() const {
  TracedEvents all;
  for (std::size_t i = 0; i < begins_.size(); ++i) {
    const TraceRing& ring = rings_[i];
    if (ring.count() == begins_[i]) continue;
    TracedEvents::OfThread found{.thread = ring.thread(), .events = {}};
    all.overwritten +=
        ring.read(begins_[i], [&found](const TraceEvent& event) { found.events.push_back(event); });
    all.threads.push_back(std::move(found));
  }
  all.without_ring = without_ring_.load(sync::relaxed);  // relaxed: a statistic.
  return all;
}

TraceRing* TraceRings::claim() noexcept {
  for (TraceRing& ring : rings_) {
    if (ring.try_claim()) return &ring;
  }
  return nullptr;
}

}  // namespace HEIST_NAMESPACE::detail
