#include <algorithm>
#include <heistd/events/event_stream.hpp>
#include <heistd/network_reserve.hpp>

namespace heistd {

EventStream::EventStream(ClientEvents& events, std::uint64_t next, bool missed)
    : events_(events), next_(next), missed_(missed) {
  auto& streams = events_.open_->streams;
  streams.splice(streams.end(), node_);
}

EventStream::~EventStream() { events_.open_->streams.remove(this); }

void EventStream::wake() noexcept {
  end_ = events_.open_->log.next();
  if (has_more() && on_more) on_more();
}

std::string EventStream::take() {
  const NetworkReserve::Withheld only_what_is_left;
  const auto& log = events_.open_->log;
  std::string text;
  auto next = next_;
  auto last = end_;
  if (missed_ || next < log.first()) {
    events_.tell_levels();
    next = std::max(log.first(), log.next() - 1);
    last = log.next();
    text = event_text(log.id(next - 1), "missed", "{}");
  }
  while (next < last && text.size() < piece_bytes) text += log.text(next++);
  const bool ends = next == last && !why_.empty();
  if (ends)
    text += event_text(log.id(next - 1), "end", "{\"reason\":\"" + std::string(why_) + "\"}");
  next_ = next;
  end_ = last;
  missed_ = false;
  has_ended_ = ends;
  return text;
}

void EventStream::end(std::string_view why) noexcept {
  why_ = why;
  wake();
}

}  // namespace heistd
