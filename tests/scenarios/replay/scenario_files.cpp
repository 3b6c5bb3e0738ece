#include "scenarios/replay/scenario_files.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "scenarios/cooperative/format.hpp"
#include "scenarios/replay/format.hpp"

namespace heist::test {

namespace {

namespace fs = std::filesystem;

ScenarioEntry parse(std::string place, const std::string& line) {
  ScenarioEntry entry{std::move(place), {}, {}};
  try {
    entry.scenario = nlohmann::json::parse(line);
    is_cooperative(entry.scenario) ? check_cooperative_format(entry.scenario)
                                   : check_format(entry.scenario);
  } catch (const nlohmann::json::exception& error) {
    entry.error = std::string("not JSON: ") + error.what();
  } catch (const std::invalid_argument& error) {
    entry.error = error.what();
  }
  return entry;
}

bool is_blank(const std::string& line) {
  return line.find_first_not_of(" \t\r") == std::string::npos;
}

std::vector<ScenarioEntry> read_file(const fs::path& path) {
  std::ifstream file(path);
  if (!file) return {{path.string(), {}, "cannot be read"}};
  std::vector<ScenarioEntry> entries;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    const auto place = path.string() + ":" + std::to_string(++number);
    if (!is_blank(line)) entries.push_back(parse(place, line));
  }
  if (entries.empty()) entries.push_back({path.string(), {}, "no scenario in this file"});
  return entries;
}

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".ndjson") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::vector<ScenarioEntry> read_scenarios(const fs::path& path) try {
  if (!fs::exists(path)) return {{path.string(), {}, "no such file or folder"}};
  if (!fs::is_directory(path)) return read_file(path);
  std::vector<ScenarioEntry> entries;
  for (const auto& file : files_of(path))
    std::ranges::move(read_file(file), std::back_inserter(entries));
  if (entries.empty()) entries.push_back({path.string(), {}, "no .ndjson file in this folder"});
  return entries;
} catch (const fs::filesystem_error& error) {
  return {{path.string(), {}, error.what()}};
}

}  // namespace heist::test
