// QueryReader: takes typed parameters out of a query, and names what is wrong with it.
#pragma once

#include <chrono>
#include <heist/priority.hpp>
#include <heistd/patience.hpp>
#include <heistd/target.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heistd {

/// Reads each parameter once; the first thing that was wrong is kept, and later reads give
/// defaults.
class QueryReader {
 public:
  explicit QueryReader(const Target& target) noexcept : query_(target.query) {}

  [[nodiscard]] std::optional<std::string> text(std::string_view name);
  [[nodiscard]] std::optional<heist::TaskPriority> priority(std::string_view name);
  /// Whole milliseconds from 0 to `most`; zero when absent.
  [[nodiscard]] std::chrono::milliseconds duration(std::string_view name,
                                                   std::chrono::milliseconds most);
  /// The same from 1; nothing when absent.
  [[nodiscard]] std::optional<std::chrono::milliseconds> limit(std::string_view name,
                                                               std::chrono::milliseconds most);
  /// A whole number from 1 to `most`; nothing when absent.
  [[nodiscard]] std::optional<std::uint32_t> count(std::string_view name, std::uint32_t most);
  /// "0", "1" or a time, for how long to wait for a job; not at all when absent.
  [[nodiscard]] Patience patience(std::string_view name);

  /// The names that nobody has read yet.
  [[nodiscard]] std::vector<std::string> unread() const;

  /// Remembers a complaint of the caller's, unless there is one already.
  void refuse(Refusal refusal);

  /// What was wrong; parameters that nobody read included.
  [[nodiscard]] std::optional<Refusal> finish();

 private:
  const std::vector<std::pair<std::string, std::string>>& query_;
  std::vector<std::string> known_;
  std::optional<Refusal> refusal_;
};

/// 1 to 64 letters, digits, '.', '_' or '-'.
[[nodiscard]] bool is_name(std::string_view text) noexcept;

}  // namespace heistd
