// TraceWatch: tells an object when a Trace begins or ends.
#pragma once

#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// So that the hot paths of the object need not look at a word of the process.
///
/// Thread: any. A mutex orders the calls, traces, and the lives of watches.
class TraceWatch {
 public:
  /// Calls `changed(subject)` on any thread, each time that a trace has begun or ended, and now if
  /// one runs.
  TraceWatch(void* subject, void (*changed)(void* subject) noexcept);
  TraceWatch(const TraceWatch&) = delete;
  TraceWatch& operator=(const TraceWatch&) = delete;
  ~TraceWatch();

  /// Calls it once more, in the same order.
  void call_again() noexcept;

  // For whoever has the mutex.

  void call() noexcept { changed_(subject_); }
  [[nodiscard]] TraceWatch* next() const noexcept { return next_; }

 private:
  void* const subject_;
  void (*const changed_)(void* subject) noexcept;
  TraceWatch* next_ = nullptr;
  TraceWatch* previous_ = nullptr;
};

}  // namespace HEIST_NAMESPACE::detail
