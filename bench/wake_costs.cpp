// Question: what does it cost to wake a sleeping thread, by where it may run? The table of ADR 0005
// is what this prints.
//
// usage: heist_wake_costs [WAKES]
//
// A thread sleeps on a futex; every millisecond another one wakes it, and then sleeps or works on
// until it has run. It needs two CPUs, the first two that the process may use.
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

struct Place {
  const char* sleeper_runs;
  std::vector<unsigned> waker;
  std::vector<unsigned> sleeper;
};

std::vector<unsigned> usable_cpus() {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) std::abort();
  std::vector<unsigned> cpus;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &usable)) cpus.push_back(cpu);
  }
  return cpus;
}

void run_on(const std::vector<unsigned>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const unsigned cpu : cpus) CPU_SET(cpu, &set);
  if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0) std::abort();
}

double percentile(std::vector<double>& values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

class Wakes {
 public:
  Wakes(int count, bool sleeps) : sleeps_(sleeps), woken_(static_cast<std::size_t>(count)) {}

  void measure(const Place& place) {
    std::thread sleeper([&] {
      run_on(place.sleeper);
      for (auto& woken : woken_) sleep(woken);
    });
    run_on(place.waker);
    for (const auto& woken : woken_) wake(woken);
    sleeper.join();
    std::printf("%-36s %-8s call %6.1f (p99 %6.1f)   runs after %6.1f (p99 %6.1f)\n",
                place.sleeper_runs, sleeps_ ? "sleeps" : "works", percentile(calls_, 0.5),
                percentile(calls_, 0.99), percentile(delays_, 0.5), percentile(delays_, 0.99));
  }

 private:
  void sleep(Clock::time_point& woken) {
    const int before = ran_.load();
    while (posted_.load() == before) {
      syscall(SYS_futex, reinterpret_cast<int*>(&posted_), FUTEX_WAIT_PRIVATE, before, nullptr);
    }
    woken = Clock::now();
    ran_.store(before + 1);
  }
  void wake(const Clock::time_point& woken) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto begin = Clock::now();
    const int number = posted_.load() + 1;
    posted_.store(number);
    syscall(SYS_futex, reinterpret_cast<int*>(&posted_), FUTEX_WAKE_PRIVATE, 1);
    calls_.push_back(Microseconds(Clock::now() - begin).count());
    while (ran_.load() != number) {
      if (sleeps_) std::this_thread::sleep_for(std::chrono::microseconds(30));
    }
    delays_.push_back(Microseconds(woken - begin).count());
  }

  const bool sleeps_;
  std::atomic<int> posted_{0};
  std::atomic<int> ran_{0};
  std::vector<Clock::time_point> woken_;
  std::vector<double> calls_;
  std::vector<double> delays_;
};

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 1000;
  const std::vector<unsigned> cpus = usable_cpus();
  if (count < 1 || cpus.size() < 2) {
    std::fprintf(stderr, "heist_wake_costs: it takes a number of wakes, and two usable CPUs\n");
    return count < 1 ? EXIT_FAILURE : EXIT_SUCCESS;
  }
  std::printf("us; the sleeper may run on, the waker then\n");
  for (const Place& place : {Place{"the waker's CPU", {cpus[0]}, {cpus[0]}},
                             Place{"the other CPU only, which idles", {cpus[0]}, {cpus[1]}},
                             Place{"any CPU", cpus, cpus}}) {
    for (const bool sleeps : {true, false}) Wakes(count, sleeps).measure(place);
  }
}
