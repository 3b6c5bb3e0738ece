// ExitCode and Failure: how heistctl ends, and why.
#pragma once

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace heistctl {

/// docs/heistctl.md explains them to users.
enum class ExitCode : int {
  done = 0,
  job_failed = 1,   ///< or it was aborted, or is dead
  usage = 2,        ///< the command line is wrong
  refused = 3,      ///< the server has said no
  unreachable = 4,  ///< there was no answer of heistd
  local = 5,        ///< a file here cannot be read or written
  interrupted = 130
};

/// Ends a command. The text says what was wrong, where, and what to do.
class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, const std::string& what) : std::runtime_error(what), code_(code) {}

  [[nodiscard]] ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// The server has refused a request, for the reason that its code names.
class Refused : public Failure {
 public:
  Refused(std::string reason, const std::string& what)
      : Failure(ExitCode::refused, what), reason_(std::move(reason)) {}

  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

 private:
  std::string reason_;
};

/// What the system's last error was.
[[nodiscard]] inline std::string last_error() {
  return std::error_code(errno, std::generic_category()).message();
}

}  // namespace heistctl
