// ParallelWork: work that is cut into parts while it runs. The algorithms of parallel.hpp use it;
// users need not.
#pragma once

#include <cstddef>
#include <heist/detail/durations.hpp>
#include <heist/detail/export.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

class ParallelRegion;

/// A part of the work, [begin, end) of its indexes.
struct ParallelPart {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t step = 1;    ///< how many indexes take about as long as ParallelLoop wants
  void* result = nullptr;  ///< whatever the work stores here

  [[nodiscard]] std::size_t size() const noexcept { return end - begin; }
};

/// Work that decides itself how it is cut.
class HEIST_EXPORT ParallelWork {
 public:
  /// Does a part, or offers the rest of it to the others.
  ///
  /// Thread: several at once, each with another part.   Errors: any; the first one ends the region.
  virtual void run(ParallelRegion& region, ParallelPart part) = 0;

 protected:
  ParallelWork() = default;
  ParallelWork(const ParallelWork&) = default;
  ParallelWork& operator=(const ParallelWork&) = default;
  ~ParallelWork() = default;
};

/// Work whose indexes are done one by one. It is cut in halves as long as somebody has nothing to
/// do. About every 20 microseconds it looks for aborts, for more urgent tasks and for others
/// without work.
class HEIST_EXPORT ParallelLoop : public ParallelWork {
 public:
  void run(ParallelRegion& region, ParallelPart part) final;
  /// Does all of it.   Errors: as run_parallel.
  void run_all(std::size_t count);

 protected:
  ParallelLoop() = default;
  ParallelLoop(const ParallelLoop&) = default;
  ParallelLoop& operator=(const ParallelLoop&) = default;
  ~ParallelLoop() = default;

 private:
  using Time = std::chrono::steady_clock::time_point;

  void offer_half(ParallelRegion& region, ParallelPart& part);
  void run_briefly(ParallelPart& part);
  Time run_step(ParallelPart& part, Time started);
  /// Does these indexes in order; `result` is the one of the part.
  virtual void run_indexes(std::size_t begin, std::size_t end, void* result) = 0;
  /// Makes the result of the second half of a part.
  virtual void* cut(void* /*result*/) { return nullptr; }
};

/// Does all of it, with the help of other agents if there are any.
///
/// Errors: the first of the work; the reason when the calling task is aborted; std::bad_alloc.
HEIST_EXPORT void run_parallel(ParallelWork& work, std::size_t count);

/// Looks whether to go on. Returns true when the caller must not go on with the part. Either the
/// region is stopped, by an abort or an error; or the caller is a helper that has something more
/// urgent to do, and this call has left the part to the others.
///
/// Thread: the one that runs the part.   Cost: a few loads.   Errors: std::bad_alloc.
[[nodiscard]] HEIST_EXPORT bool try_leave(ParallelRegion& region, const ParallelPart& part);
/// Leaves a part to whoever is free, which may be the caller, later. Returns false when nobody
/// would take it.
///
/// Thread: one that runs a part.   Cost: a task of oneTBB.
[[nodiscard]] HEIST_EXPORT bool offer(ParallelRegion& region, const ParallelPart& part);

}  // namespace HEIST_NAMESPACE::detail
