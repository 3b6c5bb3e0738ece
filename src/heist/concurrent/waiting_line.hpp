// WaitingLine: those who wait for something, nearly in the order of arrival.
#pragma once

#include <heist/version.hpp>
#include <memory>

namespace HEIST_NAMESPACE::detail {

/// A moodycamel queue of addresses. It keeps the order of those that one thread adds, and nearly
/// keeps it among threads. Its memory grows with the number of threads that have ever waited, and
/// is given back only at its end.
class WaitingLine {
 public:
  /// Errors: std::bad_alloc.
  WaitingLine();
  WaitingLine(const WaitingLine&) = delete;
  WaitingLine& operator=(const WaitingLine&) = delete;
  ~WaitingLine();

  /// Called by any thread.   Errors: std::bad_alloc; then nothing has changed.
  void join(void* waiter);
  /// Called by one thread at a time: returns the next waiter, or null. It finds every waiter that
  /// has joined before.
  [[nodiscard]] void* next() noexcept;

 private:
  struct Queue;
  std::unique_ptr<Queue> queue_;
};

}  // namespace HEIST_NAMESPACE::detail
