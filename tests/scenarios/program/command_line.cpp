#include "scenarios/program/command_line.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "scenarios/program/report.hpp"
#include "scenarios/replay/scenario_files.hpp"

namespace heist::test {

namespace {

constexpr int something_failed = 1;
constexpr int wrong_command_line = 2;
constexpr unsigned most_agents = 1024;

struct Options {
  std::vector<std::string> paths;
  std::vector<std::string> allowed;
  bool foreign_main = false;
  unsigned agents = 0;  ///< none: an event loop
};

void declare(CLI::App& app, Options& options) {
  app.add_option("PATH", options.paths, "A file of scenarios, or a folder of .ndjson files")
      ->required();
  app.add_option("--allow", options.allowed,
                 "A scenario that is sensitive to this may fail; may be repeated")
      ->type_name("KIND")
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"adopt-fast", "early-resolve", "no-listener-checkpoint"}));
  app.add_flag("--foreign-main", options.foreign_main,
               "Run main on a thread that is no agent, where the trace is determined all the same");
  app.add_option(
         "--agents", options.agents,
         "Replay in a cluster of that many agents, where the trace is determined all the same")
      ->check(CLI::Range(1U, most_agents));
}

/// In a cluster of one agent its two schedulers have the same order.
std::vector<ReplayOptions> ways_of(const Options& options) {
  const auto main_thread = options.foreign_main ? MainThread::foreign : MainThread::loop;
  if (options.agents == 0) return {{.main_thread = main_thread}};
  std::vector<ReplayOptions> ways{
      {.stage = Stage::bound, .agents = options.agents, .main_thread = main_thread}};
  if (options.agents == 1) ways.push_back({.stage = Stage::stealable, .main_thread = main_thread});
  return ways;
}

int replay_all(const Options& options) {
  Report report(std::cout, {options.allowed.begin(), options.allowed.end()}, ways_of(options));
  for (const auto& path : options.paths) {
    for (const auto& entry : read_scenarios(path)) report.add(entry);
  }
  return report.close() ? 0 : something_failed;
}

}  // namespace

int conformance(int argc, char** argv) {
  CLI::App app("Replays scenarios and compares their whole traces");
  Options options;
  declare(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : wrong_command_line;
  }
  return replay_all(options);
}

}  // namespace heist::test
