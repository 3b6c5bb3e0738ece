// ReserveSetup: how a cluster that is being made has its reserves.
#pragma once

#include <chrono>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// The owner of the reserves' threads.
class ReserveThreads {
 public:
  /// A member that is about to block: gets this one up, or starts its thread.
  virtual void wake_reserve(unsigned member) noexcept = 0;

 protected:
  ~ReserveThreads() = default;
};

/// The last members of a cluster that is being made.
struct ReserveSetup {
  unsigned count = 0;
  /// How long one sleeps before it ends.
  std::chrono::nanoseconds idle = std::chrono::nanoseconds::max();
  ReserveThreads* threads = nullptr;  ///< null: all of them are driven from the beginning
};

}  // namespace HEIST_NAMESPACE::detail
