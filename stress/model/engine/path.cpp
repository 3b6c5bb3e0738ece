#include "path.hpp"

#include <bit>

namespace heist::model {

namespace {

constexpr std::string_view digits =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

ThreadId lowest(ThreadSet threads) noexcept { return std::countr_zero(threads); }

bool contains(ThreadSet threads, ThreadId thread) noexcept {
  return thread >= 0 && (threads & only(thread)) != 0;
}

}  // namespace

Path::Path(const Search& search) : search_(search), random_(search.seed) {}

void Path::begin() noexcept {
  position_ = 0;
  preemptions_ = 0;
  last_switch_ = none;
}

bool Path::is_preemption(const Entry& entry, ThreadId thread) noexcept {
  return contains(entry.enabled, entry.previous) && thread != entry.previous;
}

bool Path::affordable(const Entry& entry, ThreadId thread) const noexcept {
  return !search_.preemptions || !is_preemption(entry, thread) ||
         entry.preemptions < *search_.preemptions;
}

/// Chooses what has not been tried yet; false when nothing is left.
bool Path::retry(Entry& entry) const noexcept {
  if (!entry.is_switch) return ++entry.chosen < entry.count;
  entry.tried |= only(entry.chosen);
  for (ThreadSet left = entry.to_try & ~entry.tried; left != 0; left &= left - 1) {
    if (!affordable(entry, lowest(left))) continue;
    entry.chosen = lowest(left);
    return true;
  }
  return false;
}

bool Path::next() {
  if (search_.kind == Search::Kind::replay) return false;
  if (search_.kind == Search::Kind::random) {
    entries_.clear();
    return true;
  }
  while (!entries_.empty() && !retry(entries_.back())) entries_.pop_back();
  return !entries_.empty();
}

int Path::recorded(int count) {
  if (position_ >= search_.trace.size()) return 0;
  const auto digit = digits.find(search_.trace[position_]);
  derailed_ |= digit == std::string_view::npos || static_cast<int>(digit) >= count;
  return derailed_ ? 0 : static_cast<int>(digit);
}

int Path::draw(int count) {
  if (search_.kind == Search::Kind::exhaustive) return 0;
  if (search_.kind == Search::Kind::replay) return recorded(count);
  // The newest value as often as all others together.
  return random_() % 2 == 0 ? 0 : static_cast<int>(random_() % static_cast<unsigned>(count));
}

int Path::choose(int count) {
  if (count == 1) return 0;
  if (position_ == entries_.size()) {
    Entry& fresh = entries_.emplace_back();
    fresh.chosen = draw(count);
    fresh.count = count;
  }
  return entries_[position_++].chosen;
}

ThreadId Path::draw_thread(ThreadSet enabled, ThreadId previous) {
  if (search_.kind == Search::Kind::replay) {
    const ThreadId thread = recorded(max_threads);
    if (contains(enabled, thread)) return thread;
    derailed_ |= position_ < search_.trace.size();
  }
  const bool stay = contains(enabled, previous);
  if (search_.kind == Search::Kind::random && (!stay || random_() % 3 == 0)) {
    for (;;) {
      const auto thread = static_cast<ThreadId>(random_() % max_threads);
      if (contains(enabled, thread)) return thread;
    }
  }
  return stay ? previous : lowest(enabled);
}

ThreadId Path::choose_thread(ThreadSet enabled, ThreadId previous) {
  last_switch_ = none;
  if (std::has_single_bit(enabled)) return lowest(enabled);
  if (position_ == entries_.size()) {
    Entry& fresh = entries_.emplace_back();
    fresh.is_switch = true;
    fresh.enabled = enabled;
    fresh.previous = previous;
    fresh.preemptions = preemptions_;
    fresh.chosen = draw_thread(enabled, previous);
  }
  last_switch_ = position_;
  const Entry& entry = entries_[position_++];
  derailed_ |= !contains(enabled, entry.chosen);
  if (is_preemption(entry, entry.chosen)) ++preemptions_;
  return derailed_ ? lowest(enabled) : entry.chosen;
}

void Path::reconsider(std::size_t at, ThreadId thread) noexcept {
  if (at == none) return;
  Entry& entry = entries_[at];
  entry.to_try |= contains(entry.enabled, thread) ? only(thread) : entry.enabled;
}

std::string Path::trace() const {
  std::string result;
  for (std::size_t i = 0; i < position_; ++i) {
    result += digits[static_cast<std::size_t>(entries_[i].chosen)];
  }
  return result;
}

}  // namespace heist::model
