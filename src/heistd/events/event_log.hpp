// EventLog: the newest events of one client, as they are sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <heistd/limits.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace heistd {

/// Numbers the events of a client, and keeps the newest. All that is kept for those who read them
/// is here, however slowly they read: each of them has the number of its next event, and finds out
/// from that when it has missed some.
///
/// Thread: the network's.
class EventLog {
 public:
  static constexpr std::size_t most_events = 4096;
  static constexpr std::size_t most_bytes = mib;

  /// `name` is a part of each id, so that no id of another log is taken for one of this.
  explicit EventLog(std::string name) : name_(std::move(name)) {}

  /// Appends an event; `data` is one line.   Errors: std::bad_alloc; nothing changed.
  void add(std::string_view type, std::string_view data);
  /// An event that cannot be kept: nobody gets it, or any from before.
  void lose() noexcept;

  /// The number of the oldest event that is kept, or of the next one when none is.
  [[nodiscard]] std::uint64_t first() const noexcept { return next_ - texts_.size(); }
  /// The number of the event that comes next.
  [[nodiscard]] std::uint64_t next() const noexcept { return next_; }
  /// An event as it is sent.   Precondition: it is kept.
  [[nodiscard]] const std::string& text(std::uint64_t number) const {
    return texts_.at(number - first());
  }

  /// The id of an event.   Errors: std::bad_alloc.
  [[nodiscard]] std::string id(std::uint64_t number) const;
  /// The number of the event after the one with this id; nothing when that is none of this log, or
  /// others have been lost since.
  [[nodiscard]] std::optional<std::uint64_t> number_after(std::string_view id) const noexcept;

 private:
  const std::string name_;
  std::deque<std::string> texts_;
  std::size_t bytes_ = 0;
  std::uint64_t next_ = 1;
};

/// An event as it is sent: server-sent events, as browsers know them.   Errors: std::bad_alloc.
[[nodiscard]] std::string event_text(std::string_view id, std::string_view type,
                                     std::string_view data);

}  // namespace heistd
