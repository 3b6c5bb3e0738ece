#include "support/reference/cooperative/host.hpp"

#include <algorithm>

namespace heist::reference::cooperative {

void Host::post() {
  trace.push_back({"post", clock});
  pending.push_back({clock, seq++, 0});
}

void Host::set_timeout(double ms) {
  trace.push_back({"setTimeout", ++timeouts, ms, clock});
  pending.push_back({clock + ms, seq++, timeouts});
}

void Host::clear_timeout() {
  trace.push_back({"clearTimeout", timeouts, clock});
  std::erase_if(pending, [this](const Event& event) { return event.timeout == timeouts; });
}

bool Host::deliver(const Which& which) {
  std::optional<Event> first;
  for (const Event& event : pending) {
    const bool is_earlier =
        !first || event.due < first->due || (event.due == first->due && event.seq < first->seq);
    if (which(event) && is_earlier) first = event;
  }
  if (!first) return false;
  std::erase_if(pending, [&](const Event& event) { return event.seq == first->seq; });
  if (first->due > clock) clock = first->due;
  if (first->timeout == 0) {
    trace.push_back({"message", clock});
    on_message();
  } else {
    trace.push_back({"fire", first->timeout, clock});
    on_timeout();
  }
  return true;
}

void Host::advance(double ms) {
  const double end = clock + ms;
  while (deliver([end](const Event& event) { return event.due <= end; })) {
  }
  if (clock < end) clock = end;
}

int Host::count(bool messages) const {
  return static_cast<int>(std::ranges::count_if(
      pending, [messages](const Event& event) { return (event.timeout == 0) == messages; }));
}

}  // namespace heist::reference::cooperative
