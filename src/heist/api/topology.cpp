#include <heist/topology.hpp>

#include "../os/cpu_groups.hpp"
#include "../os/thread.hpp"

namespace HEIST_NAMESPACE {

Topology numa_nodes() { return detail::by_numa_node(detail::CpuSet().cpus(), "/sys"); }

Topology last_level_caches() {
  return detail::by_last_level_cache(detail::CpuSet().cpus(), "/sys");
}

}  // namespace HEIST_NAMESPACE
