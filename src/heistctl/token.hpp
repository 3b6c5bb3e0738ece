// The token by which the server knows its client.
#pragma once

#include <string>

namespace heistctl {

/// The token of the file, or that of HEIST_TOKEN if there is no file; empty without both. No
/// argument has it, as all users of a machine can read the arguments of programs.
///
/// Errors: a Failure when the file cannot be read, or has no token or more than a line.
[[nodiscard]] std::string read_token(const std::string& file);

}  // namespace heistctl
