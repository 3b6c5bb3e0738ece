// Topology: which CPUs of a machine belong together, for AgentClusterOptions::topology.
#pragma once

#include <heist/detail/export.hpp>
#include <heist/version.hpp>
#include <vector>

namespace HEIST_NAMESPACE {

/// Groups of CPUs, by the numbers that the system gives them. A cluster has a group of agents for
/// each, or, with fewer agents than groups, for some.
using Topology = std::vector<std::vector<unsigned>>;

/// The CPUs that the calling thread may use, in a group for each NUMA node. Those of which the
/// system does not say where they belong are one more group.
///
/// Thread: any.   Blocks: reads files of /sys.   Errors: std::system_error, std::bad_alloc.
[[nodiscard]] HEIST_EXPORT Topology numa_nodes();

/// The same with a group for each last-level cache, of which a node may have several.
[[nodiscard]] HEIST_EXPORT Topology last_level_caches();

}  // namespace HEIST_NAMESPACE
