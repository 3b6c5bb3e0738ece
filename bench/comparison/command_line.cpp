#include "command_line.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bars.hpp"
#include "child.hpp"
#include "runner.hpp"
#include "table.hpp"

namespace bench {

namespace {

constexpr int some_bar_falls_short = 1;
constexpr int something_failed = 2;

struct Options {
  bool tabs = false;
  std::string only = ".";
  std::size_t rounds = 7;
  std::string bars;
  double scale = 1;
  double limit_seconds = 60;
  std::pair<std::string, std::string> measure;
};

void declare(CLI::App& app, Options& options) {
  app.add_flag("--tsv", options.tabs, "Print the table with tabs instead of aligned");
  app.add_option("--only", options.only,
                 "Run only what this regular expression finds in \"workload subject\", for example "
                 "'post1/.* (heist|asio)'. Bars whose rows were not run are not judged");
  app.add_option("--rounds", options.rounds, "Rounds through all measurements")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--bars", options.bars, "File of the bars to judge")->check(CLI::ExistingFile);
  // For the program itself and for its tests.
  app.add_option("--scale", options.scale)->group("");
  app.add_option("--limit", options.limit_seconds)->group("");
  app.add_option("--measure", options.measure)->group("");
}

/// The program beside this one that counts; empty when it was not built.
std::string counting_twin(const std::string& program) {
  auto twin = program + "_counted";
  if (access(twin.c_str(), X_OK) == 0) return twin;
  std::cerr << "compare: nothing is counted, as there is no " << twin << '\n';
  return {};
}

RunnerOptions runner_options(const Options& options) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").string();
  RunnerOptions result;
  result.program = program;
  result.counting = counting_twin(program);
  result.rounds = options.rounds;
  result.only = std::regex(options.only);
  result.scale = options.scale;
  result.limit = std::chrono::milliseconds(std::int64_t(options.limit_seconds * 1000));
  return result;
}

int measure_here(const Options& options, const Registry& registry) {
  const auto& [workload, subject] = options.measure;
  const Measurement* measurement = registry.find(workload, subject);
  if (measurement == nullptr) throw std::runtime_error("there is no " + workload + ' ' + subject);
  measure_and_print(*measurement, options.scale);
  return 0;
}

int compare_all(const Options& options, const Registry& registry) {
  const auto bars = options.bars.empty() ? std::vector<Bar>() : read_bars(options.bars, registry);
  const auto results = run_rounds(registry, runner_options(options));
  if (results.rows.empty()) throw std::runtime_error("--only finds no row");
  print_table(results, options.tabs ? TableStyle::tabs : TableStyle::aligned, std::cout);
  // Not into what another program reads.
  std::ostream& out = options.tabs ? std::cerr : std::cout;
  return judge(bars, results, out) ? 0 : some_bar_falls_short;
}

}  // namespace

int compare(int argc, char** argv, const Registry& registry) {
  CLI::App app("Heist beside its peers, interleaved in one run; see docs/benchmarks.md");
  Options options;
  declare(app, options);
  try {
    app.parse(argc, argv);
    const bool is_child = !options.measure.first.empty();
    return is_child ? measure_here(options, registry) : compare_all(options, registry);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : something_failed;
  } catch (const std::exception& error) {
    std::cerr << "compare: " << error.what() << '\n';
    return something_failed;
  }
}

}  // namespace bench
