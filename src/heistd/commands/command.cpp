#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <heistd/commands/command.hpp>
#include <sstream>
#include <system_error>
#include <utility>

namespace heistd {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(std::move(word));
  return words;
}

/// Why the program cannot be run; empty when it can.
std::string problem_of(const std::string& program) {
  if (!program.starts_with('/')) return "the program must be a path from the root: " + program;
  if (::access(program.c_str(), X_OK) != 0) {
    return "cannot run " + program + ": " + std::generic_category().message(errno);
  }
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(program, ignored)) return program + " is no program";
  return {};
}

}  // namespace

std::variant<Command, std::string> parse_command(std::string_view text) {
  const auto name_end = text.find('=');
  if (name_end == std::string_view::npos) return std::string("must be NAME=/path/to/program");
  Command command{std::string(text.substr(0, name_end)), split(text.substr(name_end + 1))};
  if (command.words.empty()) return std::string("must be NAME=/path/to/program");
  if (auto problem = problem_of(command.words.front()); !problem.empty()) return problem;
  return command;
}

}  // namespace heistd
