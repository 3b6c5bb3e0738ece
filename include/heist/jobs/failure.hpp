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

 private:
  std::string code_;
};

}  // namespace HEIST_NAMESPACE::jobs
