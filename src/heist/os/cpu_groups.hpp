// Finds which CPUs of the machine belong together.
#pragma once

#include <filesystem>
#include <heist/topology.hpp>
#include <heist/version.hpp>
#include <string_view>
#include <vector>

namespace HEIST_NAMESPACE::detail {

/// The groups of these CPUs by NUMA node, as files below `root` show them: /sys outside of tests.
/// Groups are in the order of the nodes' numbers, CPUs in that of `cpus`. CPUs that no file names
/// are the last group.
///
/// Thread: any.   Blocks: reads files.   Errors: std::bad_alloc.
[[nodiscard]] Topology by_numa_node(const std::vector<unsigned>& cpus,
                                    const std::filesystem::path& root);

/// The same by last-level cache, in the order of each group's first CPU.
[[nodiscard]] Topology by_last_level_cache(const std::vector<unsigned>& cpus,
                                           const std::filesystem::path& root);

/// Reads a list as the system writes it, such as "0-3,8,10-11". A malformed list has no members.
/// Errors: std::bad_alloc.
[[nodiscard]] std::vector<unsigned> cpus_in(std::string_view list);

}  // namespace HEIST_NAMESPACE::detail
