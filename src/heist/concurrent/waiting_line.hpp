// WaitingLine: those that wait for something, nearly in the order of arrival.
#pragma once

#include <heist/version.hpp>
#include <memory>

namespace HEIST_NAMESPACE::detail {

/// A moodycamel queue of addresses: of one thread in their order, of several nearly. Its memory
/// grows with the threads that have ever waited, and is not given back before its end.
class WaitingLine {
 public:
  /// Errors: std::bad_alloc.
  WaitingLine();
  WaitingLine(const WaitingLine&) = delete;
  WaitingLine& operator=(const WaitingLine&) = delete;
  ~WaitingLine();

  /// Any thread.   Errors: std::bad_alloc, nothing changed.
  void join(void* waiter);
  /// One thread at a time: the next, or null. Whoever has joined before is found.
  [[nodiscard]] void* next() noexcept;

 private:
  struct Queue;
  std::unique_ptr<Queue> queue_;
};

}  // namespace HEIST_NAMESPACE::detail
