// ErrorRecorder: hears what the error hook hears.
#pragma once

#include <heist/error.hpp>
#include <mutex>
#include <ostream>
#include <string>
#include <vector>

namespace heist::support {

struct RecordedError {
  ErrorOrigin origin;
  std::string what;

  friend bool operator==(const RecordedError&, const RecordedError&) = default;
};

void PrintTo(const RecordedError& error,
             std::ostream* out);  // NOLINT(readability-identifier-naming)

/// The process's error hook for a scope. There is one at a time.
class ErrorRecorder {
 public:
  ErrorRecorder();
  ErrorRecorder(const ErrorRecorder&) = delete;
  ErrorRecorder& operator=(const ErrorRecorder&) = delete;
  ~ErrorRecorder();

  /// Returns the errors that were reported so far, and forgets them.   Thread: any.
  [[nodiscard]] std::vector<RecordedError> take();

 private:
  static void record(ErrorOrigin origin, const Reason& reason) noexcept;

  static ErrorRecorder* active;

  std::mutex mutex_;
  std::vector<RecordedError> errors_;
  ErrorHook previous_;
};

}  // namespace heist::support
