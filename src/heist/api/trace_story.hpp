// TraceStory: what a viewer shows of the events of a Trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <heist/version.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../concurrent/tracing.hpp"

namespace HEIST_NAMESPACE::detail {

/// One thing that a viewer shows on the track of a thread.
struct TraceMark {
  enum class Shape : std::uint8_t { begin, end, instant };
  struct Argument {
    std::string_view name;
    std::uint64_t value;
  };
  /// An arrow goes from the mark at which its number begins to the one at which it ends.
  struct Arrow {
    std::uint64_t number;
    std::string_view name;  ///< what it stands for
  };

  Shape shape = Shape::instant;
  std::size_t track = 0;
  std::uint64_t nanoseconds = 0;
  std::string name{};  ///< empty at an end
  std::vector<Argument> arguments{};
  std::optional<Arrow> begins{};
  std::vector<Arrow> ends{};
};

/// What was recorded, and when.
struct TraceRecord {
  TracedEvents found;
  TraceTime begin;
  TraceTime end;
};

/// Tells the events of all threads in the order of their times. Tasks and signals get numbers: a
/// task with its post, and a signal when it is first named after its birth. So two that had the
/// same address are different ones. An arrow begins only where no event was overwritten any more,
/// as otherwise it might end at a later task that had the same address.
class TraceStory {
 public:
  using Tell = std::function<void(const TraceMark&)>;

  explicit TraceStory(const TraceRecord& record) noexcept : record_(record) {}

  /// Calls `tell` for each mark.   Errors: std::bad_alloc, and what `tell` throws.
  void tell_all(const Tell& tell);

 private:
  enum class Open : std::uint8_t { task, sleep };
  struct Task {
    std::uint64_t number = 0;
    const char* label = nullptr;
    bool was_posted = false;  ///< within the trace
  };

  struct Track {
    std::vector<Open> open;          ///< what has not ended
    const void* aborting = nullptr;  ///< the signal
    const char* label = nullptr;     ///< of what starts next
  };

  [[nodiscard]] std::uint64_t nanoseconds_of(std::uint64_t time) const noexcept;
  /// Returns false when there is nothing to show.
  bool make(const TraceEvent& event, TraceMark& mark);
  void make_post(const TraceEvent& event, TraceMark& mark);
  void make_start(const TraceEvent& event, TraceMark& mark);
  bool make_end(Open what, TraceMark& mark);
  void make_abort(const TraceEvent& event, TraceMark& mark);
  void make_change(const TraceEvent& event, TraceMark& mark);
  [[nodiscard]] Task take_task(const void* address);
  [[nodiscard]] std::uint64_t signal_number(const void* address);

  const TraceRecord& record_;
  std::uint64_t begin_of_all_ = 0;  ///< from here on no event was overwritten
  std::uint64_t last_number_ = 0;
  std::uint64_t last_signal_ = 0;
  std::unordered_map<const void*, Task> waiting_;
  std::unordered_map<const void*, std::uint64_t> signals_;
  /// Of signals whose priority has changed: the arrow to the first task that starts because of it.
  std::unordered_map<const void*, std::uint64_t> changes_;
  std::vector<Track> tracks_;
};

}  // namespace HEIST_NAMESPACE::detail
