// EventStream: one who listens to a client's events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <heistd/events/client_events.hpp>
#include <heistd/quota.hpp>
#include <list>
#include <string>
#include <string_view>

namespace heistd {

/// Reads the events of a client at its own pace. When it has missed some, as the log does not keep
/// them any more, it says so, and goes on with how things are now.
///
/// Thread: the network's.   Lifetime: within its client's.
class EventStream {
 public:
  /// The events from this one on; `missed`: others before were asked for, and are gone.
  EventStream(ClientEvents& events, std::uint64_t next, bool missed);
  ~EventStream();
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  /// Called when there is something to take; by whoever sends it.
  std::function<void()> on_more;
  /// Among the requests of the client that wait.
  Quota::Share share;

  /// All events until now may be taken. Between two of these calls nothing more is there, so that
  /// many events take few writes.
  void wake() noexcept;
  [[nodiscard]] bool has_more() const noexcept {
    return next_ < end_ || (!why_.empty() && !has_ended_);
  }
  /// The next events, as they are sent, which are few at a time.   Errors: std::bad_alloc; then
  /// nothing was taken.
  [[nodiscard]] std::string take();

  /// No events come any more, but a last one with the reason, a text that is always there.
  void end(std::string_view why) noexcept;
  /// Whether the last one was taken.
  [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }

 private:
  /// What one piece has, and perhaps a further event.
  static constexpr std::size_t piece_bytes = 16 * kib;

  ClientEvents& events_;
  std::list<EventStream*> node_{this};  ///< its entry among those who listen
  std::uint64_t next_;
  std::uint64_t end_ = next_;  ///< the first event that may not be taken yet
  bool missed_;
  std::string_view why_;  ///< empty: it goes on
  bool has_ended_ = false;
};

}  // namespace heistd
