#include <heistd/events/event_log.hpp>
#include <heistd/parameter.hpp>

namespace heistd {

std::string event_text(std::string_view id, std::string_view type, std::string_view data) {
  std::string text;
  for (const std::string_view part :
       {std::string_view("id: "), id, std::string_view("\nevent: "), type,
        std::string_view("\ndata: "), data, std::string_view("\n\n")}) {
    text += part;
  }
  return text;
}

void EventLog::add(std::string_view type, std::string_view data) {
  texts_.push_back(event_text(id(next_), type, data));
  ++next_;
  bytes_ += texts_.back().size();
  while (texts_.size() > most_events || bytes_ > most_bytes) {
    bytes_ -= texts_.front().size();
    texts_.pop_front();
  }
}

void EventLog::lose() noexcept {
  texts_.clear();
  bytes_ = 0;
  ++next_;
}

std::string EventLog::id(std::uint64_t number) const {
  return name_ + '-' + std::to_string(number);
}

std::optional<std::uint64_t> EventLog::number_after(std::string_view id) const noexcept {
  if (!id.starts_with(name_) || !id.substr(name_.size()).starts_with('-')) return std::nullopt;
  const auto number = parse_number<std::uint64_t>(id.substr(name_.size() + 1));
  if (!number || *number >= next_ || *number + 1 < first()) return std::nullopt;
  return *number + 1;
}

}  // namespace heistd
