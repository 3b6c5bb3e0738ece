// timer_late: how long after its deadline one timer's callback runs, on a loop that has nothing
// else to do. Each is armed by the one before it, 1 to 3 ms ahead. None may be early.
#include <chrono>
#include <concepts>
#include <cstdlib>
#include <vector>

#include "../../completion.hpp"
#include "../statistics.hpp"
#include "subjects.hpp"
#include "timers.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t timers = 150;

template <class Timers>
class Lateness {
 public:
  explicit Lateness(std::int64_t count) : count_(count) {}
  std::vector<double> measure() {
    subject_.post([this] {
      subject_.reserve(count_);
      arm_next();
    });
    done_.wait();
    return late_;
  }

 private:
  void arm_next() {
    const auto index = std::int64_t(late_.size());
    const std::chrono::microseconds delay(1'000 + index * 379 % 2'000);
    deadline_ = Clock::now() + delay;
    subject_.arm(delay, [this] { arrive(); });
  }
  void arrive() {
    late_.push_back(std::chrono::duration<double, std::micro>(Clock::now() - deadline_).count());
    if (late_.back() < -may_be_early) std::abort();
    if (std::int64_t(late_.size()) == count_) {
      done_.add(1);
    } else {
      arm_next();
    }
  }

  /// libuv counts from the millisecond in which it last looked at the clock.
  static constexpr double may_be_early = std::same_as<Timers, UvTimers> ? 1'000 : 0;

  std::int64_t count_;
  std::vector<double> late_;
  Clock::time_point deadline_;
  Completion done_{1};
  Timers subject_;  // last, as its worker uses the rest
};

template <class Timers>
void late(Run& run) {
  const auto count = run.scaled(timers);
  Lateness<Timers> lateness(count);
  run.start();
  const auto times = lateness.measure();
  run.stop(count);
  run.report(percentile(times, 0.5));
}

}  // namespace

void add_timer_late(Registry& registry) {
  using Subjects =
      SubjectList<HeistTimers, HeistFineTimers, AsioTimers, UvTimers, PreciseEventTimers>;
  add_for(
      Subjects(), registry,
      {.workload = "timer_late", .subject = {}, .unit = "us", .measure = {}, .figures = {"/p50"}},
      []<class Timers>(Run& run) { late<Timers>(run); });
}

}  // namespace bench
