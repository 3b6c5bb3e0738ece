#include "scenarios/cooperative/virtual_host.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "scenarios/cooperative/number.hpp"

namespace heist::test {

using Json = nlohmann::json;

// The scheduler's side.

void VirtualHost::post_message() noexcept {
  record({"post", number(clock_)});
  pending_.push_back({.due = clock_, .timeout = 0});
}

void VirtualHost::set_timeout(Milliseconds delay) noexcept {
  record({"setTimeout", ++timeouts_, number(delay.count()), number(clock_)});
  pending_.push_back({.due = clock_ + delay.count(), .timeout = timeouts_});
}

void VirtualHost::clear_timeout() noexcept {
  record({"clearTimeout", timeouts_, number(clock_)});
  std::erase_if(pending_, [this](const Event& event) {
    return event.timeout != 0 && event.timeout == timeouts_;
  });
}

// The scenario's.

bool VirtualHost::has_message() const noexcept {
  return std::ranges::any_of(pending_, [](const Event& event) { return event.timeout == 0; });
}

void VirtualHost::advance(double duration) {
  const double until = clock_ + duration;
  while (deliver_one([until](const Event& event) { return event.due <= until; })) {
  }
  clock_ = std::max(clock_, until);
}

bool VirtualHost::flush_message() {
  return deliver_one([](const Event& event) { return event.timeout == 0; });
}

void VirtualHost::fire_timeouts() {
  while (deliver_one(
      [this](const Event& event) { return event.timeout != 0 && event.due <= clock_; })) {
  }
}

void VirtualHost::flush_all() {
  while (deliver_one([](const Event&) { return true; })) {
  }
}

Json VirtualHost::end() {
  const auto messages = std::ranges::count(pending_, 0, &Event::timeout);
  record({"end", messages, static_cast<std::int64_t>(pending_.size()) - messages});
  return std::move(trace_);
}

template <class Which>
VirtualHost::Events::iterator VirtualHost::earliest(Which which) {
  auto found = pending_.end();
  for (auto event = pending_.begin(); event != pending_.end(); ++event) {
    if (which(*event) && (found == pending_.end() || event->due < found->due)) found = event;
  }
  return found;
}

template <class Which>
bool VirtualHost::deliver_one(Which which) {
  const auto found = earliest(which);
  if (found == pending_.end()) return false;
  const Event event = *found;
  pending_.erase(found);
  deliver(event);
  return true;
}

void VirtualHost::deliver(Event event) {
  constexpr int most = 100'000;
  if (++deliveries_ > most) throw std::runtime_error("it does not end");
  clock_ = std::max(clock_, event.due);
  const bool is_message = event.timeout == 0;
  record(is_message ? Json{"message", number(clock_)}
                    : Json{"fire", event.timeout, number(clock_)});
  is_message ? on_message_() : on_timeout_();
}

}  // namespace heist::test
