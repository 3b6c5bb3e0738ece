// bytes_task: growth of the resident set while a million tasks queue up, for each. bytes_timer:
// while timers are armed, for each, with whatever the user has to keep for one.
#include <array>
#include <cstdlib>

#include "../../gate.hpp"
#include "batch.hpp"
#include "resident.hpp"
#include "subjects.hpp"
#include "timers.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

constexpr std::int64_t tasks = 1'000'000;
constexpr std::int64_t timers = 300'000;

template <class Subject, std::size_t bytes>
void bytes_per_task(Run& run) {
  const auto count = run.scaled(tasks);
  auto done = completion_of<bytes>(count);
  Subject subject;
  Gate gate(subject);
  const double before = resident_bytes();
  run.start();
  for (std::int64_t i = 0; i < count; ++i) subject.post(make_payload<bytes>(done, i));
  run.stop(count);
  run.report((resident_bytes() - before) / double(count));
  gate.open();
  done.wait();
}

template <std::size_t bytes>
void add_bytes_per_task(Registry& registry, const std::string& workload) {
  // Without boost_fiber, whose channel is bounded and allocated beforehand.
  using Unbounded = SubjectList<HeistSubject, AsioSubject, AsioPoolSubject, TbbSubject, UvSubject,
                                EventSubject, MutexDequeSubject, MutexSwapSubject>;
  add_for(Unbounded(), registry,
          {.workload = workload, .subject = {}, .unit = "bytes", .measure = {}},
          []<class Subject>(Run& run) { bytes_per_task<Subject, bytes>(run); });
}

template <class Timers>
void bytes_per_timer(Run& run) {
  const auto count = run.scaled(timers);
  Timers subject;
  Completion done(1);
  subject.post([&] {
    const double before = resident_bytes();
    run.start();
    subject.reserve(count);
    for (std::int64_t i = 0; i < count; ++i) subject.arm(std::chrono::minutes(1), [] {});
    run.stop(count);
    run.report((resident_bytes() - before) / double(count));
    done.add(1);
  });
  done.wait();
  if (subject.count_armed() != count) std::abort();
}

}  // namespace

void add_memory(Registry& registry) {
  add_bytes_per_task<16>(registry, "bytes_task/16B");
  add_bytes_per_task<48>(registry, "bytes_task/48B");
  add_for(TimerSubjects(), registry,
          {.workload = "bytes_timer", .subject = {}, .unit = "bytes", .measure = {}},
          []<class Timers>(Run& run) { bytes_per_timer<Timers>(run); });
}

}  // namespace bench
