// Question: what do arming, cancelling and a burst of expiries cost one timer of the wheel, at 10^3
// to 10^6 armed timers, beside the usual alternative: a binary heap whose cancel only sets a flag?
//
// Delays are uniform over a minute of 1 ms ticks, or all equal (the usual timeout). A timer is 64
// bytes, as a small task is. No clock is read: the loop reads it once for an arm, and that costs
// more than the arm.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <heist/detail/loop_node.hpp>
#include <queue>
#include <random>
#include <vector>

#include "heist/task/timer_wheel.hpp"

namespace {

using heist::detail::LoopNode;
using heist::detail::LoopNodeOps;
using heist::detail::Tick;

constexpr LoopNodeOps no_ops{};
constexpr Tick longest_delay = 60'000;

enum Delays : std::int64_t { random_delays, equal_delays };

struct Timer : LoopNode {
  Timer() noexcept : LoopNode(no_ops) {}
  bool cancelled = false;
  std::byte callable[31]{};
};
static_assert(sizeof(Timer) == 64);

/// The rival: a heap of (tick, arming order, timer); cancel marks the timer, popping discards it.
class HeapTimers {
 public:
  void arm(Timer& timer, Tick expiry) {
    timer.cancelled = false;
    heap_.push(Entry{expiry, next_order_++, &timer});
  }
  static void cancel(Timer& timer) noexcept { timer.cancelled = true; }
  template <class Fire>
  void expire(Tick now, Fire&& fire) {
    while (!heap_.empty() && heap_.top().expiry <= now) {
      Timer* timer = heap_.top().timer;
      heap_.pop();
      if (!timer->cancelled) fire(*timer);
    }
  }
  [[nodiscard]] Tick next_expiry() const {
    return heap_.empty() ? heist::detail::no_tick : heap_.top().expiry;
  }

 private:
  struct Entry {
    Tick expiry;
    std::uint64_t order;
    Timer* timer;
    bool operator<(const Entry& other) const {
      return expiry != other.expiry ? expiry > other.expiry : order > other.order;
    }
  };
  std::priority_queue<Entry> heap_;
  std::uint64_t next_order_ = 0;
};

using heist::detail::TimerWheel;

struct Load {
  explicit Load(const benchmark::State& state)
      : timers(static_cast<std::size_t>(state.range(0))), expiries(timers.size()) {
    std::mt19937_64 random(1);
    std::uniform_int_distribution<Tick> delay(1, longest_delay);
    const bool equal = state.range(1) == equal_delays;
    // Equal delays: armed evenly over a minute, so the expiries ascend.
    for (std::size_t i = 0; i < expiries.size(); ++i) {
      expiries[i] = equal ? 1 + i * longest_delay / expiries.size() : delay(random);
    }
  }
  std::vector<Timer> timers;
  std::vector<Tick> expiries;
};

template <class Timers>
void arm_all(Timers& subject, Load& load) {
  for (std::size_t i = 0; i < load.timers.size(); ++i) {
    subject.arm(load.timers[i], load.expiries[i]);
  }
}

template <class Body>
double seconds_of(Body&& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void report_per_timer(benchmark::State& state) {
  state.counters["per_timer"] = benchmark::Counter(
      static_cast<double>(state.range(0)),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.SetLabel(state.range(1) == equal_delays ? "equal delays" : "random delays");
}

/// Only the arming of n timers is timed.
template <class Timers>
void timer_arm(benchmark::State& state) {
  Load load(state);
  for (auto _ : state) {
    Timers subject;
    state.SetIterationTime(seconds_of([&] { arm_all(subject, load); }));
    subject.expire(longest_delay, [](LoopNode&) noexcept {});
  }
  report_per_timer(state);
}

/// Only the cancelling, oldest first, is timed; what cancelled entries cost later is in arm_cancel.
template <class Timers>
void timer_cancel(benchmark::State& state) {
  Load load(state);
  for (auto _ : state) {
    Timers subject;
    arm_all(subject, load);
    state.SetIterationTime(seconds_of([&] {
      for (Timer& timer : load.timers) subject.cancel(timer);
    }));
    subject.expire(longest_delay, [](LoopNode&) noexcept {});
  }
  report_per_timer(state);
}

/// A timeout's usual life: n are armed, then cancelled; then the time passes over them.
template <class Timers>
void timer_arm_cancel(benchmark::State& state) {
  Load load(state);
  for (auto _ : state) {
    Timers subject;
    state.SetIterationTime(seconds_of([&] {
      arm_all(subject, load);
      for (Timer& timer : load.timers) subject.cancel(timer);
      subject.expire(longest_delay, [](LoopNode&) noexcept {});
    }));
  }
  report_per_timer(state);
}

/// All n expire in one call.
template <class Timers>
void timer_burst(benchmark::State& state) {
  Load load(state);
  std::uint64_t sum = 0;
  for (auto _ : state) {
    Timers subject;
    arm_all(subject, load);
    state.SetIterationTime(seconds_of(
        [&] { subject.expire(longest_delay, [&](LoopNode& node) noexcept { sum += node.key; }); }));
  }
  benchmark::DoNotOptimize(sum);
  report_per_timer(state);
}

/// An idle loop's day: it sleeps to next_expiry(), expires, and sleeps again, until all n are gone.
template <class Timers>
void timer_step_by_step(benchmark::State& state) {
  Load load(state);
  for (auto _ : state) {
    Timers subject;
    arm_all(subject, load);
    state.SetIterationTime(seconds_of([&] {
      for (Tick next = subject.next_expiry(); next != heist::detail::no_tick;
           next = subject.next_expiry()) {
        subject.expire(next, [](LoopNode&) noexcept {});
      }
    }));
  }
  report_per_timer(state);
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"timers", "equal"})->UseManualTime();
  for (const std::int64_t delays : {random_delays, equal_delays}) {
    for (std::int64_t timers = 1'000; timers <= 1'000'000; timers *= 10) {
      bench->Args({timers, delays});
    }
  }
}

BENCHMARK_TEMPLATE(timer_arm, TimerWheel)->Apply(sizes);
BENCHMARK_TEMPLATE(timer_arm, HeapTimers)->Apply(sizes);
BENCHMARK_TEMPLATE(timer_cancel, TimerWheel)->Apply(sizes);
BENCHMARK_TEMPLATE(timer_cancel, HeapTimers)->Apply(sizes);
BENCHMARK_TEMPLATE(timer_arm_cancel, TimerWheel)->Apply(sizes);
BENCHMARK_TEMPLATE(timer_arm_cancel, HeapTimers)->Apply(sizes);
BENCHMARK_TEMPLATE(timer_burst, TimerWheel)->Apply(sizes);
BENCHMARK_TEMPLATE(timer_burst, HeapTimers)->Apply(sizes);
BENCHMARK_TEMPLATE(timer_step_by_step, TimerWheel)->Apply(sizes);
BENCHMARK_TEMPLATE(timer_step_by_step, HeapTimers)->Apply(sizes);

}  // namespace
