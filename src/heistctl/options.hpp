// Options: the command line.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace heistctl {

enum class Command {
  submit,
  bulk,
  watch,
  show,
  result,
  list,
  retry,
  abort,
  erase,
  priority,
  signal,
  pause,
  resume,
  top,
  health,
  drain
};

/// Those of all commands: each reads what it has options for.
struct Options {
  Command command = Command::health;

  std::string server = "http://127.0.0.1:8080";
  std::string ca_file;     ///< of authorities to trust; empty: those of the system
  std::string token_file;  ///< empty: HEIST_TOKEN has the token, if there is one
  std::chrono::milliseconds retry_for{30'000};
  bool waits_for_server = false;  ///< --retry-for was given, so a server may come meanwhile

  std::string kind;
  std::string file = "-";
  std::vector<std::pair<std::string, std::string>> parameters;  ///< of the query
  std::string key;
  bool waits = false;  ///< for the result
  std::string output;  ///< a file; empty: the standard output

  std::vector<std::string> ids;
  bool all = false;     ///< jobs instead of these
  bool aborts = false;  ///< the job, when the watch is interrupted
  bool as_json = false;
  std::string priority;
  std::string signal;
  bool aborts_signal = false;
  std::string paused;       ///< "kind" or "signal"
  std::string paused_name;  ///< of that
  std::chrono::milliseconds interval{1000};
};

/// The options, or the exit code of a program that has nothing more to do, having said why.
[[nodiscard]] std::variant<Options, int> parse_options(int argc, const char* const* argv);

}  // namespace heistctl
