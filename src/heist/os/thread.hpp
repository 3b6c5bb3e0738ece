// Thread names, affinity, and how exactly sleeps end.
#pragma once

#include <sched.h>
#include <heist/version.hpp>

#include <chrono>
#include <string>

namespace HEIST_NAMESPACE::detail {

/// Names the calling thread; the system keeps the first 15 characters.
void name_this_thread(const std::string& name) noexcept;

/// Binds the calling thread to one CPU.   Errors: std::system_error that names the CPU.
void pin_this_thread(int cpu);

/// Asks the system to end the calling thread's sleeps at most so much too late, if it would not do
/// so anyway. By default a sleep may end 50 us late.
void end_sleeps_within(std::chrono::nanoseconds slack) noexcept;

/// The `index`-th CPU that the calling thread may use. Behind the last one it begins again at the
/// first.   Errors: std::system_error.
[[nodiscard]] int allowed_cpu(unsigned index);

/// The CPUs that a thread may use; the constructor takes the calling thread's.   Errors:
/// std::system_error.
class CpuSet {
 public:
  CpuSet();
  /// Applies them to the calling thread, if the system still allows them.
  void use() const noexcept;
  [[nodiscard]] const cpu_set_t& native() const noexcept { return cpus_; }

 private:
  cpu_set_t cpus_;
};

}  // namespace HEIST_NAMESPACE::detail
