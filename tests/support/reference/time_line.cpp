#include "support/reference/time_line.hpp"

#include <algorithm>

namespace heist::reference {

void TimeLine::run_expired() {
  while (!pending_.empty() && pending_.begin()->first <= now_) {
    const Steps steps = std::move(pending_.begin()->second);
    pending_.erase(pending_.begin());
    steps();
  }
}

bool TimeLine::spin(int duration) {
  now_ += duration;
  const bool is_clear = !pending_.contains(now_);
  if (notice_ == Notice::during_the_task) run_expired();
  return is_clear;
}

bool TimeLine::advance() {
  if (pending_.empty()) return false;
  now_ = std::max(now_, pending_.begin()->first);
  return true;
}

}  // namespace heist::reference
