// On an event loop of the measuring thread, tasks of the five levels in no order: coop_run/N: in a
// task N others are scheduled, then they run; for each. coop_delayed/N: the same with delays in no
// order; the time until the last one is over is not counted. coop_cancel: 1e5 that are queued are
// cancelled one by one, until the scheduler has nothing left. coop_should_yield: a task asks
// whether it should yield until it should, and goes on in the next slice.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "../../completion.hpp"
#include "../../subjects/cooperative/heap_cooperative.hpp"
#include "../../subjects/cooperative/heist_cooperative.hpp"
#include "subjects.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using Both = SubjectList<HeistCooperative, HeapCooperative>;

constexpr std::int64_t repeated_tasks = 1'000'000;
constexpr std::int64_t cancelled_tasks = 100'000;
constexpr std::int64_t slices = 60;

/// In no order, of [0, bound).
std::int64_t scattered(std::int64_t i, std::int64_t bound) {
  return std::int64_t((std::uint64_t(i) * 0x9e3779b97f4a7c15U) >> 33U) % bound;
}

heist::CooperativePriority level_of(std::int64_t i) {
  return static_cast<heist::CooperativePriority>(1 + scattered(i, 5));
}

template <class Subject>
void schedule_and_run(Run& run, std::int64_t queued) {
  const auto size = std::min(queued, run.scaled(repeated_tasks));
  Subject subject;
  for (std::int64_t batch = 0; batch <= run.scaled(repeated_tasks) / size; ++batch) {
    Completion done(size);
    const bool measured = batch > 0;
    if (measured) run.start();
    subject.run([&] {
      for (std::int64_t i = 0; i < size; ++i) {
        subject.schedule(level_of(i), [&done] { done.add(1); });
      }
    });
    if (measured) run.stop(size, done.ended());
    done.wait();
  }
  run.report_time();
}

/// Delays of one to two microseconds for each task: the first is over when all have been scheduled.
template <class Subject>
void delayed(Run& run, std::int64_t queued) {
  constexpr std::chrono::milliseconds rounding(5);
  const auto size = std::min(queued, run.scaled(repeated_tasks));
  const auto repetitions = std::max<std::int64_t>(1, run.scaled(repeated_tasks / 10) / size);
  Subject subject;
  for (std::int64_t batch = repetitions; batch > 0; --batch) {
    Completion done(size);
    subject.run([&] {
      run.start();
      for (std::int64_t i = 0; i < size; ++i) {
        subject.schedule(
            level_of(i), [&done] { done.add(1); }, microseconds(size + scattered(i, size)));
      }
      run.stop(0);
    });
    std::this_thread::sleep_for(microseconds(2 * size) + rounding);
    run.start();
    subject.run([] {});
    run.stop(size, done.ended());
    done.wait();
  }
  run.report_time();
}

template <class Subject>
void cancel(Run& run) {
  const auto size = run.scaled(cancelled_tasks);
  Subject subject;
  for (const bool measured : {false, true}) {
    std::vector<typename Subject::Handle> tasks;
    tasks.reserve(std::size_t(size));
    subject.run([&] {
      for (std::int64_t i = 0; i < size; ++i) {
        tasks.push_back(subject.schedule(level_of(i), [] { std::abort(); }));
      }
      if (measured) run.start();
      for (const auto& task : tasks) subject.cancel(task);
    });
    if (measured) run.stop(size);
  }
  run.report_time();
}

/// Asks until the slice is over, in so many slices.
template <class Subject>
struct Asking {
  Subject& subject;
  std::int64_t& slices_left;
  std::int64_t& asked;

  typename Subject::Next operator()() {
    while (!subject.should_yield()) ++asked;
    if (--slices_left == 0) return {};
    return *this;
  }
};

template <class Subject>
void should_yield(Run& run) {
  Subject subject;
  for (const bool measured : {false, true}) {
    std::int64_t slices_left = run.scaled(slices);
    std::int64_t asked = 0;
    subject.run([&] {
      subject.schedule(heist::CooperativePriority::normal,
                       Asking<Subject>{subject, slices_left, asked});
      if (measured) run.start();
    });
    if (measured) run.stop(asked);
    if (slices_left != 0) std::abort();
  }
  run.report_time();
}

/// Only the clock, which the usual should_yield() reads.
void read_clock(Run& run) {
  constexpr std::int64_t readings = 10'000'000;
  const auto count = run.scaled(readings);
  auto last = Clock::now();
  run.start();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto now = Clock::now();
    if (now < last) std::abort();
    last = now;
  }
  run.stop(count);
  run.report_time();
}

}  // namespace

void add_cooperative(Registry& registry) {
  for (const auto& [queued, name] :
       {std::pair{10, "/10"}, std::pair{1'000, "/1e3"}, std::pair{1'000'000, "/1e6"}}) {
    add_for(
        Both(), registry,
        {.workload = std::string("coop_run") + name, .subject = {}, .unit = "ns", .measure = {}},
        [count = queued]<class Subject>(Run& run) { schedule_and_run<Subject>(run, count); });
  }
  for (const auto& [queued, name] : {std::pair{1'000, "/1e3"}, std::pair{1'000'000, "/1e6"}}) {
    add_for(Both(), registry,
            {.workload = std::string("coop_delayed") + name,
             .subject = {},
             .unit = "ns",
             .measure = {}},
            [count = queued]<class Subject>(Run& run) { delayed<Subject>(run, count); });
  }
  add_for(Both(), registry, {.workload = "coop_cancel", .subject = {}, .unit = "ns", .measure = {}},
          []<class Subject>(Run& run) { cancel<Subject>(run); });
  const Measurement asking{
      .workload = "coop_should_yield", .subject = {}, .unit = "ns", .measure = {}};
  add_for(Both(), registry, asking, []<class Subject>(Run& run) { should_yield<Subject>(run); });
  Measurement clock = asking;
  clock.subject = "steady_clock";
  clock.measure = &read_clock;
  registry.add(std::move(clock));
}

}  // namespace bench
