#include "cpu_groups.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "system_files.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

namespace fs = std::filesystem;

/// Lists that are longer name no CPUs of any machine.
constexpr unsigned most_cpus = 1U << 16;

/// The number behind `prefix` in the name of a file.
std::optional<unsigned> numbered(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  return number_in<unsigned>(name.substr(prefix.size()));
}

/// The files of a folder whose names are `prefix` and a number, in the order of the numbers. A
/// folder that cannot be read has none.
std::vector<fs::path> numbered_in(const fs::path& folder, std::string_view prefix) {
  std::vector<std::pair<unsigned, fs::path>> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (const auto number = numbered(at->path().filename().string(), prefix)) {
      found.emplace_back(*number, at->path());
    }
  }
  std::ranges::sort(found);
  std::vector<fs::path> paths;
  for (auto& [number, path] : found) paths.push_back(std::move(path));
  return paths;
}

/// The CPUs that share the last-level cache of this one.
std::vector<unsigned> cache_of(unsigned cpu, const fs::path& root) {
  std::string list;
  unsigned last = 0;
  const fs::path folder = root / "devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "cache";
  for (const auto& cache : numbered_in(folder, "index")) {
    const auto level = number_in<unsigned>(first_line(cache / "level")).value_or(0);
    if (level <= last) continue;
    last = level;
    list = first_line(cache / "shared_cpu_list");
  }
  return cpus_in(list);
}

/// Moves those of `left` that stand in `named` to a group of their own.
void add_group(Topology& groups, std::vector<unsigned>& left, const std::vector<unsigned>& named) {
  const auto is_named = [&named](unsigned cpu) { return std::ranges::count(named, cpu) != 0; };
  std::vector<unsigned> members;
  std::ranges::copy_if(left, std::back_inserter(members), is_named);
  std::erase_if(left, is_named);
  if (!members.empty()) groups.push_back(std::move(members));
}

}  // namespace

std::vector<unsigned> cpus_in(std::string_view list) {
  std::vector<unsigned> cpus;
  for (const auto part : split(list, ',')) {
    const auto ends = split(part, '-');
    const auto first = number_in<unsigned>(ends.front());
    const auto last = number_in<unsigned>(ends.back());
    if (ends.size() > 2 || !first || !last || *last < *first || *last >= most_cpus) return {};
    for (unsigned cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

Topology by_numa_node(const std::vector<unsigned>& cpus, const fs::path& root) {
  Topology groups;
  auto left = cpus;
  for (const auto& node : numbered_in(root / "devices/system/node", "node")) {
    add_group(groups, left, cpus_in(first_line(node / "cpulist")));
  }
  if (!left.empty()) groups.push_back(std::move(left));
  return groups;
}

Topology by_last_level_cache(const std::vector<unsigned>& cpus, const fs::path& root) {
  Topology groups;
  auto left = cpus;
  for (const unsigned cpu : cpus) {
    if (std::ranges::count(left, cpu) != 0) add_group(groups, left, cache_of(cpu, root));
  }
  if (!left.empty()) groups.push_back(std::move(left));
  return groups;
}

}  // namespace HEIST_NAMESPACE::detail
