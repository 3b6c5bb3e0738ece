// JobFailure: why a job could not be done.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace heistd {

/// Why a job could not be done: a code for programs and a text for people.
class JobFailure : public std::runtime_error {
 public:
  JobFailure(std::string code, const std::string& message)
      : runtime_error(message), code_(std::move(code)) {}
  [[nodiscard]] const std::string& code() const noexcept { return code_; }

 private:
  std::string code_;
};

}  // namespace heistd
