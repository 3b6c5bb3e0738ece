// Verdicts: which parameters of one client were checked before, and how that went.
#pragma once

#include <cstddef>
#include <deque>
#include <heistd/kind.hpp>
#include <heistd/parameter.hpp>
#include <heistd/refusal.hpp>
#include <optional>
#include <string>
#include <unordered_map>

namespace heistd {

/// What the checks of a request's parameters say.
struct Verdict {
  std::optional<Refusal> refusal;  ///< none: they are good
};

/// Calls the checks of a kind's parameters, until one refuses.   Thread: any.   Cost: as theirs.
[[nodiscard]] Verdict judge(const Kind& kind, const Parameters& parameters);

/// The most memory that one of the checks takes.
[[nodiscard]] std::size_t check_bytes(const Kind& kind) noexcept;

/// What a verdict is about: the kind, and the values that have a check. Empty when none has.
[[nodiscard]] std::string checked_text(const Kind& kind, const Parameters& parameters);

/// Remembers the newest verdicts, so that a value is checked once and not for each job.   Thread:
/// the network's.
class Verdicts {
 public:
  static constexpr std::size_t max_verdicts = 64;

  /// Null when there is none about this checked_text().
  [[nodiscard]] const Verdict* find(const std::string& about) const;

  void add(const std::string& about, Verdict verdict);

 private:
  std::unordered_map<std::string, Verdict> verdicts_;
  std::deque<std::string> by_age_;  ///< oldest first
};

}  // namespace heistd
