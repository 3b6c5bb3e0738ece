// Thread names, affinity, and how exactly sleeps end.
#pragma once

#include <sched.h>
#include <heist/version.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace HEIST_NAMESPACE::detail {

/// Names the calling thread; the system keeps the first 15 characters.
void name_this_thread(const std::string& name) noexcept;

/// The name of the calling thread, which fits into a string without an allocation, and its number.
[[nodiscard]] std::string name_of_this_thread() noexcept;
[[nodiscard]] std::uint64_t number_of_this_thread() noexcept;

/// Binds the calling thread to one CPU.   Errors: std::system_error that names the CPU.
void pin_this_thread(int cpu);

/// Asks the system to end the calling thread's sleeps at most so much too late, if it would not do
/// so anyway. By default a sleep may end 50 us late.
void end_sleeps_within(std::chrono::nanoseconds slack) noexcept;

/// The CPUs that a thread may use.
class CpuSet {
 public:
  /// Those of the calling thread.   Errors: std::system_error.
  CpuSet();
  /// Numbers of 8192 and more are left out, as Linux has no such CPUs.
  explicit CpuSet(const std::vector<unsigned>& cpus) noexcept;
  /// Their numbers, ascending.   Errors: std::bad_alloc.
  [[nodiscard]] std::vector<unsigned> cpus() const;
  /// Applies them to the calling thread. Returns an error number, or 0.
  int use() const noexcept;

 private:
  std::array<cpu_set_t, 8> cpus_;
};

}  // namespace HEIST_NAMESPACE::detail
