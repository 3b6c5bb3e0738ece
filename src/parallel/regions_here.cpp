#include "regions_here.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace HEIST_NAMESPACE::detail {

RegionHere::Regions& RegionHere::free_regions(TaskPriority priority) noexcept {
  thread_local std::array<Regions, 3> regions;
  return regions[static_cast<std::size_t>(priority)];
}

RegionHere::RegionHere(const Helpers& helpers, TaskPriority priority)
    : free_(free_regions(priority)) {
  const auto found = std::find_if(free_.rbegin(), free_.rend(),
                                  [&](const auto& region) { return region->may_run_for(helpers); });
  if (found == free_.rend()) {
    region_ = std::make_shared<ParallelRegion>(helpers);
    return;
  }
  std::swap(*found, free_.back());
  region_ = std::move(free_.back());
  free_.pop_back();
}

RegionHere::~RegionHere() {
  try {
    free_.push_back(std::move(region_));
  } catch (const std::bad_alloc&) {
    region_.reset();  // the next call makes another one
  }
}

}  // namespace HEIST_NAMESPACE::detail
