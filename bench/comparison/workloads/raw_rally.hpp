// raw_line, raw_futex: the floors of a ping-pong. Two threads hand a cache line to and fro, and
// spin until it comes or sleep in the kernel.
#pragma once

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "trips.hpp"

namespace bench {

/// Binds the calling thread to the first or the second processor that it may use.
inline void pin_to(int wanted) noexcept {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
  std::size_t cpu = 0;
  for (int before = wanted; before > 0 || !CPU_ISSET(cpu, &allowed); ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) --before;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
}

/// Waits by looking, each on a processor of its own.
class SpinningLine {
 public:
  static constexpr const char* name = "raw_line";
  static void settle(int partner) noexcept { pin_to(partner); }
  void set(std::uint32_t value) noexcept { value_.store(value, std::memory_order_release); }
  void await(std::uint32_t value) const noexcept {
    for (int looks = 0; value_.load(std::memory_order_acquire) != value; ++looks) {
      if (looks > 10'000) std::this_thread::yield();  // for machines with one core
    }
  }

 private:
  alignas(64) std::atomic<std::uint32_t> value_{0};
};

/// Waits asleep.
class FutexLine {
 public:
  static constexpr const char* name = "raw_futex";
  static void settle(int) noexcept {}  // the kernel decides, as it does for the others
  void set(std::uint32_t value) noexcept {
    value_.store(value, std::memory_order_release);
    syscall(SYS_futex, &value_, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, nullptr, nullptr, 0);
  }
  void await(std::uint32_t value) noexcept {
    std::uint32_t seen = 0;
    while ((seen = value_.load(std::memory_order_acquire)) != value) {
      syscall(SYS_futex, &value_, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, seen, nullptr, nullptr, 0);
    }
  }

 private:
  alignas(64) std::atomic<std::uint32_t> value_{0};
};

template <class Line>
class RawRally {
 public:
  static constexpr const char* name = Line::name;
  RawRally(std::int64_t trips, std::chrono::milliseconds pause) : trips_(trips), pause_(pause) {}
  std::vector<double> play() {
    std::thread partner([this] {
      Line::settle(1);
      answer();
    });
    Line::settle(0);
    for (std::uint32_t turn = 0; !trips_.complete(); turn += 2) {
      if (pause_.count() > 0) std::this_thread::sleep_for(pause_);
      trips_.begin();
      there_.set(turn + 1);
      back_.await(turn + 2);
      trips_.end();
    }
    partner.join();
    return trips_.measured();
  }

 private:
  void answer() {
    const auto end = static_cast<std::uint32_t>(2 * trips_.total());
    for (std::uint32_t turn = 0; turn != end; turn += 2) {
      there_.await(turn + 1);
      back_.set(turn + 2);
    }
  }

  Trips trips_;
  std::chrono::milliseconds pause_;
  Line there_;
  Line back_;
};

}  // namespace bench
