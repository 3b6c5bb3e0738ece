// Command: a program that does the jobs of a kind, as the command line names it.
#pragma once

#include <chrono>
#include <cstddef>
#include <heistd/limits.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace heistd {

/// "NAME=/path/to/program its arguments".
struct Command {
  std::string name;                ///< of the kind
  std::vector<std::string> words;  ///< the program's path, and its arguments
};

/// How much each run of a program may take.
struct CommandLimits {
  std::chrono::milliseconds timeout{600'000};
  std::size_t memory = 0;  ///< of its address space, in bytes; 0: as the server's own
  std::size_t output = 16 * mib;
  std::size_t at_a_time = 0;  ///< runs; 0: as many as the machine has CPUs
};

/// The command, or what is wrong with it: also that there is no such program.
[[nodiscard]] std::variant<Command, std::string> parse_command(std::string_view text);

}  // namespace heistd
