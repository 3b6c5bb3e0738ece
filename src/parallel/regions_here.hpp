// RegionsHere: the regions of a thread, which are used for one call after another.
#pragma once

#include <heist/detail/helped_task.hpp>
#include <memory>
#include <vector>

#include "parallel_region.hpp"

namespace HEIST_NAMESPACE::detail {

/// A region for this call, and for the calls that the thread makes later. Nested calls have regions
/// of their own.
///
/// Thread: the caller's.
class RegionHere {
 public:
  /// Errors: std::bad_alloc.
  RegionHere(const Helpers& helpers, TaskPriority priority);
  ~RegionHere();
  RegionHere(const RegionHere&) = delete;
  RegionHere& operator=(const RegionHere&) = delete;

  [[nodiscard]] ParallelRegion& operator*() const noexcept { return *region_; }

 private:
  using Regions = std::vector<std::shared_ptr<ParallelRegion>>;

  /// Regions are kept by priority, because helpers that were called at one priority are of no use
  /// at another.
  static Regions& free_regions(TaskPriority priority) noexcept;

  Regions& free_;
  std::shared_ptr<ParallelRegion> region_;
};

}  // namespace HEIST_NAMESPACE::detail
