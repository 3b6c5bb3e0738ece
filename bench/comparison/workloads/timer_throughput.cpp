// On the loop's own thread, and on its steady clock:
// timer_arm: arms 1e5 timers with deadlines between 1 s and 60 s.
// timer_cancel: cancels such timers one by one, until the last is gone with its callback.
// timer_expire: 1e5 timers that fell due while the loop was busy, until the last callback has run.
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "../../completion.hpp"
#include "subjects.hpp"
#include "timers.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

using std::chrono::milliseconds;

constexpr std::int64_t timers = 100'000;

/// Spread over a minute in no order.
std::vector<milliseconds> spread_delays(std::int64_t count) {
  std::vector<milliseconds> delays;
  for (std::int64_t i = 0; i < count; ++i) delays.emplace_back(1'000 + i * 7'919 % 59'000);
  return delays;
}

/// Runs `work` on the loop and waits for it.
template <class Timers, class Work>
void on_loop(Timers& subject, Work work) {
  Completion done(1);
  subject.post([&] {
    work();
    done.add(1);
  });
  done.wait();
}

template <class Timers>
void arm(Run& run) {
  const auto delays = spread_delays(run.scaled(timers));
  const auto count = std::int64_t(delays.size());
  for (const bool measured : {false, true}) {
    Timers subject;
    on_loop(subject, [&] {
      subject.reserve(count);
      if (measured) run.start();
      for (const auto delay : delays) subject.arm(delay, [] { std::abort(); });
      if (measured) run.stop(count);
    });
    if (subject.count_armed() != count) std::abort();
  }
  run.report_time();
}

template <class Timers>
void cancel(Run& run) {
  const auto delays = spread_delays(run.scaled(timers));
  const auto count = std::int64_t(delays.size());
  for (const bool measured : {false, true}) {
    Completion gone(count);
    Timers subject;
    on_loop(subject, [&] {
      subject.reserve(count);
      for (const auto delay : delays) subject.arm_cancellable(delay, gone);
      if (measured) run.start();
      for (std::int64_t i = 0; i < count; ++i) subject.cancel(i);
    });
    gone.wait();
    if (measured) run.stop(count, gone.ended());
    if (subject.count_armed() != 0) std::abort();
  }
  run.report_time();
}

template <class Timers>
void expire(Run& run) {
  constexpr milliseconds delay(50);
  constexpr milliseconds rounding(5);
  const auto count = run.scaled(timers);
  for (const bool measured : {false, true}) {
    Completion done(count);
    Timers subject;
    on_loop(subject, [&] {
      subject.reserve(count);
      for (std::int64_t i = 0; i < count; ++i) subject.arm(delay, [&] { done.add(1); });
      std::this_thread::sleep_for(delay + rounding);
      if constexpr (requires { subject.was_busy(); }) subject.was_busy();
      if (measured) run.start();
    });
    done.wait();
    if (measured) run.stop(count, done.ended());
  }
  run.report_time();
}

}  // namespace

void add_timer_throughput(Registry& registry) {
  add_for(TimerSubjects(), registry,
          {.workload = "timer_arm", .subject = {}, .unit = "ns", .measure = {}},
          []<class Timers>(Run& run) { arm<Timers>(run); });
  add_for(TimerSubjects(), registry,
          {.workload = "timer_cancel", .subject = {}, .unit = "ns", .measure = {}},
          []<class Timers>(Run& run) { cancel<Timers>(run); });
  add_for(TimerSubjects(), registry,
          {.workload = "timer_expire", .subject = {}, .unit = "ns", .measure = {}},
          []<class Timers>(Run& run) { expire<Timers>(run); });
}

}  // namespace bench
