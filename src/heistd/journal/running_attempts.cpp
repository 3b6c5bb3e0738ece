#include <algorithm>
#include <exception>
#include <functional>
#include <heistd/journal/running_attempts.hpp>

namespace heistd {
namespace {

/// Of an entry whose attempt is not noted yet: no job has it.
constexpr Attempt none_yet = 0;

}  // namespace

void RunningAttempts::begin(const JobId& id, Attempt attempt) {
  const auto place = place_for(id);
  try {
    notes_.write(place, id, attempt);
  } catch (...) {
    give_back(id);
    throw;
  }
  const std::lock_guard lock(mutex_);
  running_.at(id).attempt = attempt;
}

/// Its place is given back last, as others write there then.
void RunningAttempts::take_back(const JobId& id, Attempt attempt) noexcept {
  const auto place = reserve(id, attempt);
  if (!place) return;
  try {
    notes_.write(*place, id, none_yet);
  } catch (const std::exception&) {  // it counts after a kill, as if it had run
    return give_back(id);
  }
  give_back(id);
}

/// The place of an attempt that has not been ended meanwhile. From now on nobody else ends it.
std::optional<std::size_t> RunningAttempts::reserve(const JobId& id, Attempt attempt) noexcept {
  const std::lock_guard lock(mutex_);
  const auto known = running_.find(id);
  if (known == running_.end() || known->second.attempt != attempt) return std::nullopt;
  known->second.attempt = none_yet;
  return known->second.place;
}

/// From now on the job has an entry, which nobody else ends: the end of the attempt that it had, if
/// any, is stored. The lowest free place keeps the file short and without gaps.
std::size_t RunningAttempts::place_for(const JobId& id) {
  const std::lock_guard lock(mutex_);
  if (const auto known = running_.find(id); known != running_.end()) {
    known->second.attempt = none_yet;
    return known->second.place;
  }
  if (free_places_.empty()) add_place();
  const auto lowest = free_places_.front();
  running_.emplace(id, Running{none_yet, lowest});
  std::ranges::pop_heap(free_places_, std::greater());
  free_places_.pop_back();
  return lowest;
}

/// All places may be free one day, and there is room for that then.
void RunningAttempts::add_place() {
  if (free_places_.capacity() == places_) free_places_.reserve(2 * places_ + 1);
  free_places_.push_back(places_++);
}

std::optional<Attempt> RunningAttempts::find(const JobId& id) const {
  const std::lock_guard lock(mutex_);
  const auto known = running_.find(id);
  return known == running_.end() ? std::nullopt : std::optional(known->second.attempt);
}

RunningAttempts::Attempts RunningAttempts::all() const {
  const std::lock_guard lock(mutex_);
  Attempts all;
  for (const auto& [id, running] : running_) all.emplace(id, running.attempt);
  return all;
}

void RunningAttempts::end(const JobId& id, Attempt attempt) noexcept {
  const std::lock_guard lock(mutex_);
  const auto known = running_.find(id);
  const bool runs = known != running_.end() && known->second.attempt == attempt;
  if (runs && attempt != none_yet) erase(known);
}

void RunningAttempts::give_back(const JobId& id) noexcept {
  const std::lock_guard lock(mutex_);
  const auto known = running_.find(id);
  if (known != running_.end()) erase(known);
}

void RunningAttempts::erase(Entries::iterator entry) noexcept {
  free_places_.push_back(entry->second.place);
  std::ranges::push_heap(free_places_, std::greater());
  running_.erase(entry);
}

}  // namespace heistd
