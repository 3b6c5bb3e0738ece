// ReserveSetup: says what reserves a new cluster has.
#pragma once

#include <chrono>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// The owner of the reserves' threads.
class ReserveThreads {
 public:
  /// Called by a member that is about to block, or goes on: wakes this reserve, or starts its
  /// thread.
  virtual void wake_reserve(unsigned member) noexcept = 0;

 protected:
  ~ReserveThreads() = default;
};

/// The reserves, which are the last members, of a cluster that is being made.
struct ReserveSetup {
  unsigned count = 0;
  /// How long a reserve sleeps before its thread ends.
  std::chrono::nanoseconds idle = std::chrono::nanoseconds::max();
  ReserveThreads* threads = nullptr;  ///< null: all of them are driven from the beginning
};

}  // namespace HEIST_NAMESPACE::detail
