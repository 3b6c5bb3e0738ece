// RivalThread: a thread that waits for the CPU of the one that has made it.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "heist/os/thread.hpp"
#include "support/threads.hpp"

namespace heist::support {

/// A thread that never waits. It and its maker may use one CPU only, until others are allowed.
class RivalThread {
 public:
  RivalThread() {
    CpuSet(std::vector{here()}).use();
    thread_ = std::thread([this] { run(); });
    started_.wait();
  }
  RivalThread(const RivalThread&) = delete;
  RivalThread& operator=(const RivalThread&) = delete;
  ~RivalThread() {
    ends_ = true;
    thread_.join();
    usable_.use();
  }

  static unsigned here() { return static_cast<unsigned>(sched_getcpu()); }
  [[nodiscard]] pid_t number() const { return number_; }
  /// Allows it the CPUs that its maker had before.
  void allow_all() const { usable_.use(number_); }
  [[nodiscard]] bool may_use_all() const { return CpuSet::of(number_) == usable_; }
  /// The CPU on which the system has it run or wait.
  [[nodiscard]] unsigned cpu() const {
    std::ifstream file("/proc/self/task/" + std::to_string(number_) + "/stat");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    constexpr int before_the_cpu = 36;
    std::string field;
    for (int i = 0; i < before_the_cpu; ++i) fields >> field;
    unsigned cpu = 0;
    fields >> cpu;
    return cpu;
  }

 private:
  void run() {
    number_ = gettid();
    started_.open();
    while (!ends_) {
    }
  }

  const CpuSet usable_;
  std::atomic<bool> ends_{false};
  pid_t number_ = 0;
  Gate started_;
  std::thread thread_;
};

/// Whether this moves a thread that waits for the CPU of the caller. It is tried often, because the
/// system may move the thread as well.
template <class Move>
[[nodiscard]] bool rivals_are_moved_by(Move move) {
  constexpr int tries = 20;
  int moved = 0;
  for (int i = 0; i < tries; ++i) {
    const RivalThread rival;
    rival.allow_all();
    const bool was_here = rival.cpu() == RivalThread::here();
    move(rival.number());
    moved += was_here && rival.cpu() != RivalThread::here() && rival.may_use_all() ? 1 : 0;
  }
  return moved > tries / 2;
}

}  // namespace heist::support
