#include "cpu_limit.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "system_files.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

/// The hierarchies of cgroups that may hold a CPU quota.
enum class Hierarchy { v1_cpu, v2 };

/// A place where the system shows a hierarchy, from the cgroup `shown` downwards.
struct CgroupMount {
  Hierarchy hierarchy;
  fs::path shown;
  fs::path point;
};

/// This process's cgroup in one hierarchy.
struct OwnCgroup {
  Hierarchy hierarchy;
  fs::path path;
};

bool names_cpu(std::string_view controllers) {
  return std::ranges::count(split(controllers, ','), "cpu"sv) != 0;
}

/// Decodes a path of mountinfo, where a backslash and three octal digits stand for blanks and
/// backslashes.
std::string unescaped(std::string_view text) {
  constexpr std::size_t digits = 3;
  std::string plain;
  while (!text.empty()) {
    const auto code = number_in<unsigned char>(text.substr(1, digits), 8);
    const bool escape = text.front() == '\\' && text.size() > digits && code;
    plain += escape ? static_cast<char>(*code) : text.front();
    text.remove_prefix(escape ? 1 + digits : 1);
  }
  return plain;
}

/// Reads "ID PARENT DEVICE SHOWN POINT OPTIONS [TAG]... - TYPE SOURCE OPTIONS". A v1 mount lists
/// its controllers among the latter options, because cpu and cpuacct often share one mount.
std::optional<CgroupMount> cgroup_mount(std::string_view line) {
  constexpr std::size_t shown = 3, point = 4, tags = 6, behind_tags = 4;
  const auto words = split(line, ' ');
  if (words.size() < tags + behind_tags) return std::nullopt;
  const auto dash = std::find(words.begin() + tags, words.end() - behind_tags, "-"sv);
  const auto type = dash[1];
  const bool is_v2 = dash[0] == "-" && type == "cgroup2";
  const bool is_v1_cpu = dash[0] == "-" && type == "cgroup" && names_cpu(dash[3]);
  if (!is_v2 && !is_v1_cpu) return std::nullopt;
  return CgroupMount{is_v2 ? Hierarchy::v2 : Hierarchy::v1_cpu, unescaped(words[shown]),
                     unescaped(words[point])};
}

/// Reads "ID:CONTROLLERS:PATH". The path may have colons. The line of v2 is "0::PATH".
std::optional<OwnCgroup> own_cgroup(std::string_view line) {
  const auto parts = split(line, ':');
  if (parts.size() < 3) return std::nullopt;
  const bool is_v2 = parts[0] == "0" && parts[1].empty();
  if (!is_v2 && !names_cpu(parts[1])) return std::nullopt;
  return OwnCgroup{is_v2 ? Hierarchy::v2 : Hierarchy::v1_cpu,
                   line.substr(parts[0].size() + parts[1].size() + 2)};
}

/// The smaller of two limits. Either may be 0, which stands for no limit.
unsigned tighter(unsigned one, unsigned other) noexcept {
  return one == 0 || other == 0 ? std::max(one, other) : std::min(one, other);
}

/// Rounds up: with a quota of 1.5 CPUs one agent would leave a third unused, while two use all of
/// it and are only throttled when both are busy. "max", "-1" and malformed texts are no quota.
unsigned whole_cpus(std::string_view quota, std::string_view period) {
  const auto granted = number_in<std::uint64_t>(quota).value_or(0);
  const auto every = number_in<std::uint64_t>(period).value_or(0);
  if (every == 0) return 0;
  const auto cpus = granted / every + (granted % every != 0 ? 1 : 0);
  return static_cast<unsigned>(std::min<std::uint64_t>(cpus, std::numeric_limits<unsigned>::max()));
}

unsigned quota_of(Hierarchy hierarchy, const fs::path& folder) {
  if (hierarchy == Hierarchy::v1_cpu) {
    return whole_cpus(first_line(folder / "cpu.cfs_quota_us"),
                      first_line(folder / "cpu.cfs_period_us"));
  }
  const auto line = first_line(folder / "cpu.max");
  const auto words = split(line, ' ');
  return words.size() == 2 ? whole_cpus(words[0], words[1]) : 0;
}

/// The tightest quota from the top of the mount down to the cgroup. A mount that does not show the
/// cgroup says nothing: it may be of another subtree, or the cgroup may be outside of the
/// namespace, so that its path goes up ("/..").
unsigned quota_along(const CgroupMount& mount, const fs::path& cgroup, const fs::path& root) {
  const fs::path below = cgroup.lexically_relative(mount.shown);
  if (below.empty() || *below.begin() == "..") return 0;
  fs::path folder = root / mount.point.relative_path();
  unsigned quota = quota_of(mount.hierarchy, folder);
  for (const fs::path& name : below) {
    folder /= name;
    quota = tighter(quota, quota_of(mount.hierarchy, folder));
  }
  return quota;
}

}  // namespace

unsigned available_cpus() noexcept {
  std::array<cpu_set_t, 8>
      allowed;  // The system refuses a mask shorter than its own; Linux has up to 8192.
  if (sched_getaffinity(0, sizeof allowed, allowed.data()) != 0) return 0;
  return static_cast<unsigned>(CPU_COUNT_S(sizeof allowed, allowed.data()));
}

unsigned cgroup_cpu_quota(const fs::path& root) {
  std::vector<OwnCgroup> own;
  for (const auto& line : lines_of(root / "proc/self/cgroup")) {
    if (auto cgroup = own_cgroup(line)) own.push_back(*std::move(cgroup));
  }
  unsigned quota = 0;
  for (const auto& line : lines_of(root / "proc/self/mountinfo")) {
    const auto mount = cgroup_mount(line);
    if (!mount) continue;
    for (const auto& cgroup : own) {
      if (cgroup.hierarchy != mount->hierarchy) continue;
      quota = tighter(quota, quota_along(*mount, cgroup.path, root));
    }
  }
  return quota;
}

unsigned agents_for(const CpuLimits& limits, const char* wanted, unsigned most_agents) {
  if (!wanted) {
    const unsigned tightest = tighter(tighter(limits.hardware, limits.affinity), limits.quota);
    return std::clamp(tightest, 1U, most_agents);
  }
  const unsigned agents = number_in<unsigned>(wanted).value_or(0);
  if (agents == 0 || agents > most_agents) {
    throw std::invalid_argument("HEIST_AGENTS is \"" + std::string(wanted) +
                                "\"; it must be a decimal integer from 1 to " +
                                std::to_string(most_agents));
  }
  return agents;
}

unsigned default_agents(unsigned most_agents, unsigned cpus) {
  const CpuLimits limits{std::thread::hardware_concurrency(), tighter(available_cpus(), cpus),
                         cgroup_cpu_quota("/")};
  // NOLINTNEXTLINE(concurrency-mt-unsafe): a precondition
  return agents_for(limits, std::getenv("HEIST_AGENTS"), most_agents);
}

}  // namespace HEIST_NAMESPACE::detail
