// Finds how much of the machine this process may use, and so how many agents a cluster has by
// default.
#pragma once

#include <filesystem>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// Limits on CPUs from three places.   Units: whole CPUs; 0 where no limit is known.
struct CpuLimits {
  unsigned hardware = 0;  ///< hardware threads of the machine
  unsigned affinity = 0;  ///< CPUs that the mask of the calling thread allows
  unsigned quota = 0;     ///< CPU time that the cgroup grants for real time
};

/// How many CPUs the calling thread may use; 0 if the system does not say.
[[nodiscard]] unsigned available_cpus() noexcept;

/// The CPU quota of this process's cgroup: the tightest one of the cgroup and its ancestors, in
/// cgroup v1 and v2, as far as mounts show them. A file that cannot be read, or that is not written
/// as the system writes it, limits nothing.
///
/// Thread:  any.   Blocks: reads files below `root`, which is "/" outside of tests.
/// Units:   whole CPUs, rounded up; 0 without a quota.    Errors: std::bad_alloc.
[[nodiscard]] unsigned cgroup_cpu_quota(const std::filesystem::path& root);

/// How many agents to make within these limits: the tightest one, from 1 to `most_agents`. `wanted`
/// overrides the limits; it is the text of HEIST_AGENTS, or null when that is not set.
///
/// Thread:  any (pure).   Blocks: never.
/// Errors:  std::invalid_argument, if `wanted` is no decimal integer from 1 to `most_agents`.
[[nodiscard]] unsigned agents_for(const CpuLimits& limits, const char* wanted,
                                  unsigned most_agents);

/// The size of a cluster whose maker names none: agents_for() with this machine, the calling
/// thread's mask, this process's cgroup and its environment. `cpus` is how many CPUs of the mask
/// the cluster is to use; 0: all.
///
/// Thread:  any, while no thread changes the environment.   Blocks: reads files of /proc and /sys.
/// Errors:  std::invalid_argument, as agents_for(); std::bad_alloc.
[[nodiscard]] unsigned default_agents(unsigned most_agents, unsigned cpus = 0);

}  // namespace HEIST_NAMESPACE::detail
