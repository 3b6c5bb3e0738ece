// Thread names, affinity, and how exactly sleeps end.
#pragma once

#include <sched.h>
#include <heist/version.hpp>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace HEIST_NAMESPACE::detail {

/// Names the calling thread; the system keeps the first 15 characters.
void name_this_thread(const std::string& name) noexcept;

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
  /// Those of a thread, or nothing if the system does not say.
  [[nodiscard]] static std::optional<CpuSet> of(pid_t thread) noexcept;
  /// All that there might be.
  [[nodiscard]] static CpuSet every() noexcept;

  /// Their numbers, ascending.   Errors: std::bad_alloc.
  [[nodiscard]] std::vector<unsigned> cpus() const;
  /// The same CPUs but this one.
  [[nodiscard]] CpuSet without(unsigned cpu) const noexcept;
  [[nodiscard]] bool empty() const noexcept;
  /// Applies them to the calling thread, or to another one of the process. Returns an error number,
  /// or 0.
  int use() const noexcept { return use(0); }
  int use(pid_t thread) const noexcept;

  friend bool operator==(const CpuSet& one, const CpuSet& other) noexcept {
    return CPU_EQUAL_S(sizeof one.cpus_, one.cpus_.data(), other.cpus_.data());
  }

 private:
  std::array<cpu_set_t, 8> cpus_;
};

/// Moves another thread, which is to run and may be waiting for the caller's CPU, to one of the
/// other CPUs that it may use. Does nothing if there is none, or if it is on another CPU already.
/// Afterwards it may use the same CPUs as before. A change of that by somebody else meanwhile is
/// lost.   Cost: at most five system calls.
void move_off_this_cpu(pid_t thread) noexcept;

}  // namespace HEIST_NAMESPACE::detail
