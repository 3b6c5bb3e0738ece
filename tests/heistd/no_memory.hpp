// What operator new gave out, and what happens when it fails; the same for OpenSSL's memory.
#pragma once

#include <cstddef>

namespace heistd {

/// Bytes that operator new gave out and that are not back, of all threads, with what the allocator
/// adds to each piece; and what the library's node pool took, which keeps it.
[[nodiscard]] std::size_t heap_bytes() noexcept;

/// How often this thread has asked operator new, or OpenSSL, for memory.
[[nodiscard]] std::size_t allocations() noexcept;

/// While it lives, this thread's operator new and OpenSSL give memory `successes` times more; then
/// they fail, once or from then on.
class NoMemory {
 public:
  enum class Fails { once, always };
  explicit NoMemory(std::size_t successes, Fails fails = Fails::always) noexcept;
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
  ~NoMemory();

  /// Whether it has failed.
  [[nodiscard]] bool struck() const noexcept;
};

}  // namespace heistd
