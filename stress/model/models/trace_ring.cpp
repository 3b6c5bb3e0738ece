// TraceRing: a reader takes whole events of the right thread, however much its owner overwrites
// meanwhile (TRC-5).
#include <cstdint>
#include <string>
#include <vector>

#include "../support.hpp"
#include "concurrent/trace_ring.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

namespace {

/// All its words say which event it is.
void record_number(TraceRing& ring, std::uint64_t number) {
  ring.record(number, number, number, number << 32U);
}
void check_whole(const TraceEvent& event) {
  const auto* const same = reinterpret_cast<const void*>(event.time);
  check(event.what == same && event.other == same && event.from == event.time,
        "the words of an event belong together");
}

/// Reads all events since `first`, of which the oldest have small numbers.
std::uint64_t read_all(const TraceRing& ring, std::uint64_t first) {
  std::vector<TraceEvent> events;
  const std::uint64_t overwritten = ring.read(first, events);
  for (std::size_t i = 0; i < events.size(); ++i) {
    check_whole(events[i]);
    check(i == 0 || events[i].time == events[i - 1].time + 1, "the events come in their order");
  }
  return events.size() + overwritten;
}

}  // namespace

/// The owner goes round its ring while it is read.
HEIST_MODEL_PROGRAM(trace_read_against_overwriting, 2) {
  constexpr std::uint64_t events = 5;
  TraceRing ring(2);
  check(ring.try_claim(), "a new ring is free");
  spawn([&] {
    ring.set_thread(7, "owner");
    for (std::uint64_t number = 1; number <= events; ++number) record_number(ring, number);
  });
  if (ring.count() != 0) check(ring.thread().id == 7, "an event says who recorded it");
  check(read_all(ring, 0) <= events, "no event is counted twice");
  if (!join_all()) return;
  check(read_all(ring, 0) == events, "each event was read or overwritten");
}

/// A thread ends, its ring is freed for the next trace, and two threads want it.
HEIST_MODEL_PROGRAM(trace_ring_from_thread_to_thread, 2) {
  TraceRing ring(2);
  check(ring.try_claim(), "a new ring is free");
  spawn([&] {
    ring.set_thread(1, "first");
    record_number(ring, 1);
    ring.leave();
  });
  int claims = 0;
  for (std::uint64_t id = 2; id <= 3; ++id) {
    spawn([&ring, &claims, id] {
      if (!ring.try_claim()) return;
      ++claims;  // one of them at the most
      ring.set_thread(id, "next");
      record_number(ring, 2);
    });
  }
  if (ring.is_left()) ring.free();
  const auto begins = ring.count();
  if (!join_all()) return;
  const auto count = ring.count();
  check(count == static_cast<std::uint64_t>(1 + claims), "one thread recorded at a time");
  check(read_all(ring, begins) == count - begins, "its events are there");
  if (claims == 1) check(ring.thread().id >= 2, "it is the second one's");
}
