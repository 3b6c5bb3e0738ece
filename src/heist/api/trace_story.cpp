#include "trace_story.hpp"

#include <algorithm>
#include <array>
#include <heist/priority.hpp>
#include <tuple>
#include <utility>

namespace HEIST_NAMESPACE::detail {

namespace {

/// An event, and whose it is.
struct Placed {
  const TraceEvent* event;
  std::size_t track;
};

std::string name_of(TaskPriority priority) {
  constexpr std::array names{"background", "user-visible", "user-blocking"};
  return names[static_cast<std::size_t>(priority)];
}

TraceMark::Arrow arrow_of_post(std::uint64_t number) { return {number, "post"}; }
TraceMark::Arrow arrow_of_change(std::uint64_t number) { return {number, "change of priority"}; }

/// A level is that of the tasks of a priority, or of their continuations.
std::string name_of_level(std::uint8_t level) {
  return name_of(static_cast<TaskPriority>(level / 2)) +
         (level % 2 == 1 ? " continuation" : " task");
}

/// Two kinds of events are left out: what a thread recorded late, for an earlier trace, and what
/// threads recorded after the end, while others were read.
std::vector<Placed> in_order(const TraceRecord& record) {
  std::vector<Placed> all;
  for (std::size_t track = 0; track < record.found.threads.size(); ++track) {
    for (const TraceEvent& event : record.found.threads[track].events) {
      if (event.time >= record.begin.count && event.time <= record.end.count)
        all.push_back({&event, track});
    }
  }
  // Events of one thread and one time stand as that thread recorded them.
  std::ranges::sort(all, {}, [](const Placed& placed) {
    return std::tuple(placed.event->time, placed.track, placed.event);
  });
  return all;
}

/// The time from which on no event was overwritten.
std::uint64_t begin_of_all(const TraceRecord& record) {
  std::uint64_t begin = record.begin.count;
  for (const TracedEvents::OfThread& of : record.found.threads) {
    if (!of.lacks_some) continue;
    begin = std::max(begin, of.events.empty() ? record.end.count : of.events.front().time);
  }
  return begin;
}

}  // namespace

std::uint64_t TraceStory::nanoseconds_of(std::uint64_t time) const noexcept {
  const TraceTime& begin = record_.begin;
  const TraceTime& end = record_.end;
  const auto counts = static_cast<double>(end.count - begin.count);
  const auto passed = static_cast<double>(end.nanoseconds - begin.nanoseconds);
  const double of_count = counts > 0 ? passed / counts : 1;
  return begin.nanoseconds +
         static_cast<std::uint64_t>(static_cast<double>(time - begin.count) * of_count);
}

void TraceStory::tell_all(const Tell& tell) {
  tracks_.assign(record_.found.threads.size(), {});
  begin_of_all_ = begin_of_all(record_);
  for (const Placed& placed : in_order(record_)) {
    TraceMark mark{.track = placed.track, .nanoseconds = nanoseconds_of(placed.event->time)};
    if (make(*placed.event, mark)) tell(mark);
  }
}

bool TraceStory::make(const TraceEvent& event, TraceMark& mark) {
  switch (event.kind) {
    case TraceKind::post:
      make_post(event, mark);
      break;
    case TraceKind::label:
      tracks_[mark.track].label = static_cast<const char*>(event.other);
      return false;
    case TraceKind::start:
      make_start(event, mark);
      break;
    case TraceKind::end:
      return make_end(Open::task, mark);
    case TraceKind::birth:
      signals_.erase(event.what);
      changes_.erase(event.what);
      return false;
    case TraceKind::signal:
      tracks_[mark.track].aborting = event.what;
      mark.name = "abort of a signal";
      mark.arguments = {{"signal", signal_number(event.what)}};
      break;
    case TraceKind::abort:
      make_abort(event, mark);
      break;
    case TraceKind::priority:
      make_change(event, mark);
      break;
    case TraceKind::steal:
      mark.name = "steal";
      mark.arguments = {{"tasks", event.count}};
      if (event.from != TraceEvent::unknown_agent)
        mark.arguments.push_back({"from agent", event.from});
      break;
    case TraceKind::sleep:
      tracks_[mark.track].open.push_back(Open::sleep);
      mark.shape = TraceMark::Shape::begin;
      mark.name = "sleep";
      break;
    case TraceKind::wake:
      return make_end(Open::sleep, mark);
  }
  return true;
}

void TraceStory::make_post(const TraceEvent& event, TraceMark& mark) {
  const Task task{
      .number = ++last_number_, .label = static_cast<const char*>(event.other), .was_posted = true};
  if (event.time >= begin_of_all_) waiting_[event.what] = task;
  mark.name = task.label != nullptr ? std::string("post of ") + task.label : "post";
  mark.arguments = {{"task", task.number}};
  mark.begins = arrow_of_post(task.number);
}

void TraceStory::make_start(const TraceEvent& event, TraceMark& mark) {
  const Task task = take_task(event.what);
  Track& track = tracks_[mark.track];
  track.open.push_back(Open::task);
  const char* const label = std::exchange(track.label, nullptr);
  mark.shape = TraceMark::Shape::begin;
  mark.name = label != nullptr ? label : name_of_level(event.level);
  mark.arguments = {{"task", task.number}, {"level", event.level}};
  if (task.was_posted) mark.ends.push_back(arrow_of_post(task.number));
  if (event.other == nullptr) return;
  mark.arguments.push_back({"signal", signal_number(event.other)});
  const auto change = changes_.find(event.other);
  if (change == changes_.end()) return;
  mark.ends.push_back(arrow_of_change(change->second));
  changes_.erase(change);
}

/// The begin may have been overwritten, or have come before the trace.
bool TraceStory::make_end(Open what, TraceMark& mark) {
  auto& open = tracks_[mark.track].open;
  if (open.empty() || open.back() != what) return false;
  open.pop_back();
  mark.shape = TraceMark::Shape::end;
  return true;
}

void TraceStory::make_abort(const TraceEvent& event, TraceMark& mark) {
  mark.name = event.has_started ? "abort of a task that has started" : "abort of a task";
  if (!event.has_started) {
    const Task task = take_task(event.what);
    mark.arguments = {{"task", task.number}};
    if (task.was_posted) mark.ends.push_back(arrow_of_post(task.number));
  }
  if (event.other != nullptr) {
    mark.name = std::string("abort of ") + static_cast<const char*>(event.other);
    if (event.has_started) mark.name += ", which has started";
  }
  const void* const signal = tracks_[mark.track].aborting;
  if (signal != nullptr) mark.arguments.push_back({"signal", signal_number(signal)});
}

void TraceStory::make_change(const TraceEvent& event, TraceMark& mark) {
  mark.name = name_of(static_cast<TaskPriority>(event.before)) + " -> " +
              name_of(static_cast<TaskPriority>(event.level));
  mark.arguments = {{"signal", signal_number(event.what)}};
  ++last_number_;
  if (event.time >= begin_of_all_) changes_[event.what] = last_number_;
  mark.begins = arrow_of_change(last_number_);
}

/// The task waits no more.
TraceStory::Task TraceStory::take_task(const void* address) {
  const auto found = waiting_.find(address);
  if (found == waiting_.end()) return {.number = ++last_number_};
  const Task task = found->second;
  waiting_.erase(found);
  return task;
}

std::uint64_t TraceStory::signal_number(const void* address) {
  const auto [signal, is_new] = signals_.try_emplace(address, last_signal_ + 1);
  if (is_new) ++last_signal_;
  return signal->second;
}

}  // namespace HEIST_NAMESPACE::detail
