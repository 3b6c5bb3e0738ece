#include "thread.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

namespace HEIST_NAMESPACE::detail {

void name_this_thread(const std::string& name) noexcept {
  constexpr std::size_t longest = 15;
  pthread_setname_np(pthread_self(), name.substr(0, longest).c_str());
}

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

std::optional<CpuSet> CpuSet::of(pid_t thread) noexcept {
  CpuSet set(std::vector<unsigned>{});
  if (sched_getaffinity(thread, sizeof set.cpus_, set.cpus_.data()) != 0) return std::nullopt;
  return set;
}

CpuSet CpuSet::every() noexcept {
  CpuSet set(std::vector<unsigned>{});
  std::memset(set.cpus_.data(), 0xff, sizeof set.cpus_);
  return set;
}

CpuSet CpuSet::without(unsigned cpu) const noexcept {
  CpuSet others = *this;
  CPU_CLR_S(cpu, sizeof others.cpus_, others.cpus_.data());
  return others;
}

bool CpuSet::empty() const noexcept { return CPU_COUNT_S(sizeof cpus_, cpus_.data()) == 0; }

int CpuSet::use(pid_t thread) const noexcept {
  return sched_setaffinity(thread, sizeof cpus_, cpus_.data()) == 0 ? 0 : errno;
}

namespace {

/// Lets the thread use these CPUs again. If those are all that its container has, it asks for every
/// CPU: then it follows when the container gets others, as a thread does that has never asked.
void put_back(const CpuSet& usable, pid_t thread) noexcept {
  CpuSet::every().use(thread);
  if (CpuSet::of(thread) != usable) usable.use(thread);
}

}  // namespace

void move_off_this_cpu(pid_t thread) noexcept {
  const int here = sched_getcpu();
  const auto usable = CpuSet::of(thread);
  if (here < 0 || !usable) return;
  const CpuSet others = usable->without(static_cast<unsigned>(here));
  if (others.empty() || others == *usable) return;
  if (others.use(thread) == 0) put_back(*usable, thread);
}

}  // namespace HEIST_NAMESPACE::detail
