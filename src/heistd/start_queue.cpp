#include <algorithm>
#include <exception>
#include <heistd/start_queue.hpp>
#include <utility>

namespace heistd {
namespace {

bool has_ended(const std::weak_ptr<const Job>& asking) noexcept {
  const auto job = asking.lock();
  return !job || job->finished();
}

}  // namespace

bool StartQueue::is_suspect(const Job& job) noexcept {
  const auto* const failure = job.unfinished ? job.unfinished->last_failure.get() : nullptr;
  return failure != nullptr && failure->code() == lost_attempt().code;
}

void StartQueue::ask(const std::shared_ptr<const Job>& job, Start start) {
  line_of(*job).jobs.push_back({++asked_, job, std::move(start)});
  start_some();
}

void StartQueue::move(const std::shared_ptr<const Job>& job) {
  auto& to = line_of(*job);
  for (auto& from : lines_) {
    const auto place = std::ranges::find_if(
        from.jobs, [&](const Asking& asking) { return asking.job.lock() == job; });
    if (place == from.jobs.end()) continue;
    const auto behind = std::ranges::upper_bound(to.jobs, place->order, {}, &Asking::order);
    if (&from != &to) {
      to.jobs.insert(behind, *place);
      from.jobs.erase(place);
    }
    break;
  }
  start_some();
}

StartQueue::Line& StartQueue::line_of(const Job& job) {
  const auto group = job.fixed_priority ? nullptr : job.group;
  const auto fixed = job.fixed_priority.value_or(heist::TaskPriority::background);
  const bool suspect = is_suspect(job);
  const auto found = std::ranges::find_if(lines_, [&](const Line& line) {
    return line.group == group && line.fixed == fixed && line.ceiling == job.ceiling &&
           line.are_suspects == suspect && line.at_a_time == job.kind.at_a_time;
  });
  if (found != lines_.end()) return *found;
  return lines_.emplace_back(Line{group, fixed, job.ceiling, suspect, job.kind.at_a_time, {}});
}

/// A start may give its place back at once, which calls this anew.
void StartQueue::start_some() noexcept {
  if (std::exchange(is_starting_, true)) return;
  while (auto* const line = next_line()) start_first(*line);
  is_starting_ = false;
}

/// The line whose first job is the next to start; null when none may.
StartQueue::Line* StartQueue::next_line() noexcept {
  drop_ended();
  Line* next = nullptr;
  for (auto& line : lines_) {
    if (!has_places(line)) continue;
    if (next == nullptr || is_before(line, *next)) next = &line;
  }
  return next;
}

bool StartQueue::is_before(const Line& line, const Line& other) noexcept {
  if (line.level() != other.level()) return line.level() > other.level();
  return line.jobs.front().order < other.jobs.front().order;
}

bool StartQueue::has_places(const Line& line) const noexcept {
  if (line.at_a_time > 0 && under_way(of_programs) >= line.at_a_time) return false;
  if (line.are_suspects) return under_way({Of::suspects, line.level()}) == 0;
  return line.at_a_time > 0 || under_way({Of::priority, line.level()}) < most_at_a_time;
}

std::size_t StartQueue::under_way(const Row& row) const noexcept {
  const auto found = under_way_->find(row);
  return found == under_way_->end() ? 0 : found->second;
}

StartQueue::Place StartQueue::take_at_once(heist::TaskPriority level) {
  drop_ended();
  const Row row{Of::priority, static_cast<std::size_t>(level)};
  const bool others_ask = std::ranges::any_of(lines_, [&row](const Line& line) {
    return line.at_a_time == 0 && !line.are_suspects && line.level() == row.second;
  });
  const bool others_start = being_started_.at(row.second).use_count() > 1;
  if (others_ask || others_start || under_way(row) >= most_at_a_time) return nullptr;
  return take_place(row);
}

/// Has each line begin with a job that has not ended, and none be empty.
void StartQueue::drop_ended() noexcept {
  for (auto& line : lines_) {
    while (!line.jobs.empty() && has_ended(line.jobs.front().job)) line.jobs.pop_front();
  }
  lines_.remove_if([](const Line& line) { return line.jobs.empty(); });
}

/// When a start fails for lack of memory, the others go on. Who asked for it is to ask again.
void StartQueue::start_first(Line& line) noexcept {
  const auto start = std::move(line.jobs.front().start);
  line.jobs.pop_front();
  try {
    start(take_places(line));
  } catch (const std::exception&) {
    return;
  }
}

/// Errors: std::bad_alloc; then all of them are given back.
StartQueue::Places StartQueue::take_places(const Line& line) {
  Places places;
  if (line.are_suspects) places.of_suspect = take_place({Of::suspects, line.level()});
  if (line.at_a_time > 0) {
    places.to_run = take_place(of_programs);
  } else if (!line.are_suspects) {
    places.to_run = take_place({Of::priority, line.level()});
  }
  return places;
}

StartQueue::Place StartQueue::take_place(const Row& row) {
  auto& taken = (*under_way_)[row];  // a map's entry stays where it is
  const auto give_back = [this, &taken,
                          weak = std::weak_ptr<UnderWay>(under_way_)](const void*) noexcept {
    const auto under_way = weak.lock();
    if (!under_way) return;
    --taken;
    start_some();
  };
  ++taken;
  return {under_way_.get(), give_back};  // without memory it is given back at once
}

}  // namespace heistd
