// PatternCache: the patterns of one client's jobs, each compiled once.
#pragma once

#include <cstddef>
#include <heistd/budget.hpp>
#include <heistd/line_pattern.hpp>
#include <heistd/refusal.hpp>
#include <memory>
#include <string>
#include <unordered_map>

namespace heistd {

/// Jobs with the same pattern share it while any of them is unfinished. Each pattern takes its share of the
/// client's budget.   Thread: the network's; the patterns themselves may go on any thread.
class PatternCache {
 public:
  explicit PatternCache(std::shared_ptr<Budget> budget) noexcept : budget_(std::move(budget)) {}

  /// Errors: 400 "bad_pattern", 503 "queue_full".
  [[nodiscard]] Result<std::shared_ptr<const LinePattern>> get(const std::string& text);

 private:
  void forget_unused();

  std::shared_ptr<Budget> budget_;
  std::unordered_map<std::string, std::weak_ptr<const LinePattern>> patterns_;
  std::size_t next_sweep_ = 16;
};

}  // namespace heistd
