#include "thread.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include <cerrno>
#include <system_error>

namespace HEIST_NAMESPACE::detail {

void name_this_thread(const std::string& name) noexcept {
  constexpr std::size_t longest = 15;
  pthread_setname_np(pthread_self(), name.substr(0, longest).c_str());
}

void pin_this_thread(int cpu) {
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  int error = EINVAL;
  if (cpu >= 0 && cpu < CPU_SETSIZE) {
    CPU_SET(static_cast<unsigned>(cpu), &wanted);
    error = pthread_setaffinity_np(pthread_self(), sizeof wanted, &wanted);
  }
  if (error != 0) {
    throw std::system_error(error, std::generic_category(),
                            "AgentOptions::affinity: cannot run on CPU " + std::to_string(cpu));
  }
}

void end_sleeps_within(std::chrono::nanoseconds slack) noexcept {
  const long now = prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
  if (now > slack.count()) prctl(PR_SET_TIMERSLACK, slack.count(), 0UL, 0UL, 0UL);
}

CpuSet::CpuSet() {
  if (sched_getaffinity(0, sizeof cpus_, &cpus_) != 0) {
    throw std::system_error(errno, std::generic_category(), "sched_getaffinity");
  }
}

void CpuSet::use() const noexcept {
  static_cast<void>(pthread_setaffinity_np(pthread_self(), sizeof cpus_, &cpus_));
}

CpuSet::CpuSet(const std::vector<unsigned>& cpus) noexcept {
  CPU_ZERO(&cpus_);
  for (const unsigned cpu : cpus) CPU_SET(cpu, &cpus_);
}

std::vector<unsigned> CpuSet::cpus() const {
  std::vector<unsigned> cpus;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &cpus_)) cpus.push_back(cpu);
  }
  return cpus;
}

}  // namespace HEIST_NAMESPACE::detail
