// The options of the program, as CLI11 reads them.
#pragma once

#include <CLI/CLI.hpp>
#include <heistd/options.hpp>
#include <string>
#include <vector>

namespace heistd {

/// What CLI11 fills, before it becomes Options.
struct RawOptions {
  std::vector<std::string> max_wait;
  std::vector<std::string> clients;
  std::string anonymous_ceiling = "user-blocking";
  std::vector<std::string> commands;
};

/// Adds all options of the server.   Lifetime: both structures live longer than the parsing.
void add_options(CLI::App& app, Options& options, RawOptions& raw);

}  // namespace heistd
