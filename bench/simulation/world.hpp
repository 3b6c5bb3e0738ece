// World: the virtual time of a simulation, and its chances.
#pragma once

#include <chrono>
#include <heist/heist.hpp>
#include <random>
#include <utility>

namespace simulation {

using Time = std::chrono::nanoseconds;  ///< since the beginning

inline double seconds_of(Time time) { return std::chrono::duration<double>(time).count(); }
inline Time time_of(double seconds) {
  return std::chrono::duration_cast<Time>(std::chrono::duration<double>(seconds));
}

/// A loop with a virtual clock: minutes of a thousand servers pass in seconds, and the same in each
/// run with one seed.
class World {
 public:
  explicit World(unsigned seed) : chances_(seed) {}

  template <class Action>
  void after(Time time, Action action) {
    scheduler_.post(std::move(action), {.delay = time});
  }
  template <class Action>
  void now_and_every(Time period, Action action) {
    action();
    after(period, [this, period, action = std::move(action)]() mutable {
      now_and_every(period, std::move(action));
    });
  }
  void advance(Time time) { loop_.advance(time); }
  [[nodiscard]] Time now() const { return loop_.now(); }

  /// Of an exponential distribution.
  Time random_time(Time mean) {
    return time_of(std::exponential_distribution<double>(1 / seconds_of(mean))(chances_));
  }
  double random_part() { return std::uniform_real_distribution<double>()(chances_); }
  std::size_t random_index(std::size_t size) {
    return std::uniform_int_distribution<std::size_t>(0, size - 1)(chances_);
  }

 private:
  heist::EventLoop loop_{{.clock = heist::LoopClock::virtual_time,
                          .tick = std::chrono::microseconds(10),
                          .sample_every = 0}};
  heist::Scheduler scheduler_ = loop_.scheduler();
  std::mt19937_64 chances_;
};

}  // namespace simulation
