#include <heistd/pattern_cache.hpp>
#include <utility>

namespace heistd {
namespace {

/// A pattern with its share of the budget.
struct Entry {
  std::shared_ptr<const LinePattern> pattern;
  Budget::Ticket ticket;
};

}  // namespace

Result<std::shared_ptr<const LinePattern>> PatternCache::get(const std::string& text) {
  if (const auto found = patterns_.find(text); found != patterns_.end()) {
    if (auto pattern = found->second.lock()) return pattern;
  }
  auto compiled = LinePattern::compile(text);
  if (auto* error = std::get_if<std::string>(&compiled)) {
    return Refusal{400, "bad_pattern", std::move(*error), "pattern"};
  }
  auto ticket = budget_->take_memory(LinePattern::max_memory);
  if (!ticket) return unavailable("queue_full", "no memory is left for one more pattern");
  const auto entry = std::make_shared<Entry>(
      Entry{std::get<std::shared_ptr<const LinePattern>>(std::move(compiled)), std::move(*ticket)});
  const std::shared_ptr<const LinePattern> pattern(entry, entry->pattern.get());
  forget_unused();
  patterns_[text] = pattern;
  return pattern;
}

void PatternCache::forget_unused() {
  if (patterns_.size() < next_sweep_) return;
  std::erase_if(patterns_, [](const auto& entry) { return entry.second.expired(); });
  next_sweep_ = 2 * patterns_.size() + 16;
}

}  // namespace heistd
