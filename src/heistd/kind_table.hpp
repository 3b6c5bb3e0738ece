// KindTable: the kinds of jobs that a server runs.
#pragma once

#include <cstddef>
#include <functional>
#include <heistd/kind.hpp>
#include <map>
#include <string>
#include <string_view>

namespace heistd {

/// The kinds of jobs that a server runs, by name. Jobs refer to them, so it lives longer than the
/// server, and does not change once that runs.
class KindTable {
 public:
  /// Errors: std::invalid_argument when the kind's name or a parameter's cannot be used, or is
  ///         taken.
  void add(Kind kind);

  /// The kind of that name, or null.   Thread: any.
  [[nodiscard]] const Kind* find(std::string_view name) const noexcept;

  [[nodiscard]] const std::map<std::string, Kind, std::less<>>& all() const noexcept {
    return kinds_;
  }

  /// All names, with commas between them.
  [[nodiscard]] std::string names() const;

  /// The most that a job keeps between its chunks, of whatever kind, beyond its body of that size.
  [[nodiscard]] std::size_t most_working_bytes(std::size_t body_bytes) const;

 private:
  std::map<std::string, Kind, std::less<>> kinds_;
};

}  // namespace heistd
