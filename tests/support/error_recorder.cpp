#include "support/error_recorder.hpp"

#include <utility>

namespace heist::support {

ErrorRecorder* ErrorRecorder::active = nullptr;

void PrintTo(const RecordedError& error, std::ostream* out) {
  *out << "error of origin " << static_cast<int>(error.origin) << ": " << error.what;
}

ErrorRecorder::ErrorRecorder() {
  active = this;
  previous_ = set_error_hook(&record);
}

ErrorRecorder::~ErrorRecorder() {
  set_error_hook(previous_);
  active = nullptr;
}

std::vector<RecordedError> ErrorRecorder::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(errors_, {});
}

void ErrorRecorder::record(ErrorOrigin origin, const Reason& reason) noexcept {
  const std::lock_guard lock(active->mutex_);
  active->errors_.push_back({origin, reason.what()});
}

}  // namespace heist::support
