#include "thread.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace HEIST_NAMESPACE::detail {

void name_this_thread(const std::string& name) noexcept {
  constexpr std::size_t longest = 15;
  pthread_setname_np(pthread_self(), name.substr(0, longest).c_str());
}

std::string name_of_this_thread() noexcept {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return name.data();
}

std::uint64_t number_of_this_thread() noexcept { return static_cast<std::uint64_t>(gettid()); }

void pin_this_thread(int cpu) {
  const int error = cpu >= 0 ? CpuSet({static_cast<unsigned>(cpu)}).use() : EINVAL;
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
  if (sched_getaffinity(0, sizeof cpus_, cpus_.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "sched_getaffinity");
  }
}

CpuSet::CpuSet(const std::vector<unsigned>& cpus) noexcept {
  CPU_ZERO_S(sizeof cpus_, cpus_.data());
  for (const unsigned cpu : cpus) CPU_SET_S(cpu, sizeof cpus_, cpus_.data());
}

std::vector<unsigned> CpuSet::cpus() const {
  std::vector<unsigned> cpus;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE * cpus_.size(); ++cpu) {
    if (CPU_ISSET_S(cpu, sizeof cpus_, cpus_.data())) cpus.push_back(cpu);
  }
  return cpus;
}

int CpuSet::use() const noexcept {
  return pthread_setaffinity_np(pthread_self(), sizeof cpus_, cpus_.data());
}

}  // namespace HEIST_NAMESPACE::detail
