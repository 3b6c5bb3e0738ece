#include <heistd/pattern_verdicts.hpp>
#include <utility>

namespace heistd {

const std::string* PatternVerdicts::find(const std::string& pattern) const {
  const auto found = verdicts_.find(pattern);
  return found == verdicts_.end() ? nullptr : &found->second;
}

void PatternVerdicts::add(const std::string& pattern, std::string refusal) {
  if (verdicts_.contains(pattern)) return;
  by_age_.push_back(pattern);
  verdicts_.emplace(pattern, std::move(refusal));
  if (by_age_.size() <= max_patterns) return;
  verdicts_.erase(by_age_.front());
  by_age_.pop_front();
}

}  // namespace heistd
