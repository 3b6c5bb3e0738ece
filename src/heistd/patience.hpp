// Patience: for how long a request waits for a job's end.
#pragma once

#include <chrono>
#include <optional>

namespace heistd {

struct Patience {
  /// Zero: it does not wait; empty: until the end.
  std::optional<std::chrono::milliseconds> most = std::chrono::milliseconds();

  [[nodiscard]] bool any() const noexcept { return !most || most->count() > 0; }
};

}  // namespace heistd
