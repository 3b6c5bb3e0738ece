// Failure: why a job could not be done.
#pragma once

#include <heist/detail/export.hpp>
#include <heist/version.hpp>
#include <stdexcept>
#include <string>
#include <utility>

namespace HEIST_NAMESPACE::jobs {

/// Why a job could not be done: a code for programs and a text for people. A handler that throws
/// one has its job fail with both. Any other exception fails the job with the code `internal`.
class HEIST_EXPORT Failure : public std::runtime_error {
 public:
  /// The code is the `code` of the job's error, and the message its `message`.
  Failure(std::string code, const std::string& message)
      : runtime_error(message), code_(std::move(code)) {}
  /// Which fault it is, for programs.
  [[nodiscard]] const std::string& code() const noexcept { return code_; }

  /// A failure that may go away by itself, as that of another server which is busy: the job is
  /// tried again after a while, as often as its `max_attempts` allows. Then it is dead. A server
  /// without `--data` has nothing left to try it with: there the job has failed.
  [[nodiscard]] static Failure transient(std::string code, const std::string& message) {
    Failure failure(std::move(code), message);
    failure.is_transient_ = true;
    return failure;
  }
  /// Whether it may go away.
  [[nodiscard]] bool is_transient() const noexcept { return is_transient_; }

 private:
  std::string code_;
  bool is_transient_ = false;
};

}  // namespace HEIST_NAMESPACE::jobs
