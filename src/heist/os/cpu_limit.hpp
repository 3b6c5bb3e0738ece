// How much of the machine this process may use, and so how many agents a cluster has by itself.
#pragma once

#include <filesystem>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// Limits on CPUs from three places.   Units: whole CPUs; 0 where nothing is known or nothing
/// limits.
struct CpuLimits {
  unsigned hardware = 0;  ///< hardware threads of the machine
  unsigned affinity = 0;  ///< CPUs the mask of the calling thread allows
  unsigned quota = 0;     ///< CPU time that the cgroup grants for real time
};

/// CPUs the calling thread may use; 0 if the system does not say.
[[nodiscard]] unsigned available_cpus() noexcept;

/// CPU quota of this process's cgroup: the tightest of it and its ancestors, of cgroup v1 and v2,
/// as far as mounts show them. What cannot be read, or is not as the system writes it, limits
/// nothing.
///
/// Thread:  any.   Blocks: reads files below `root`, which is "/" outside of tests.
/// Units:   whole CPUs, rounded up; 0 without a quota.    Errors: std::bad_alloc.
[[nodiscard]] unsigned cgroup_cpu_quota(const std::filesystem::path& root);

/// Agents for these limits: the tightest, from 1 to `most_agents`. `wanted`, the text of
/// HEIST_AGENTS or null without it, overrides them.
///
/// Thread:  any (pure).   Blocks: never.
/// Errors:  std::invalid_argument, if `wanted` is no decimal integer from 1 to `most_agents`.
[[nodiscard]] unsigned agents_for(const CpuLimits& limits, const char* wanted,
                                  unsigned most_agents);

/// Size of a cluster whose maker names none: agents_for() this machine, the calling thread's mask,
/// this process's cgroup and its environment.
///
/// Thread:  any, while no thread changes the environment.   Blocks: reads files of /proc and /sys.
/// Errors:  std::invalid_argument, as agents_for(); std::bad_alloc.
[[nodiscard]] unsigned default_agents(unsigned most_agents);

}  // namespace HEIST_NAMESPACE::detail
