// grow: that many tasks are posted while the worker stands at a gate, then run; from the first post
// to the last run, per task. Small sizes repeat.
#include <algorithm>
#include <string>

#include "../../gate.hpp"
#include "batch.hpp"
#include "subjects.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

/// The largest size is more than that, once.
constexpr std::int64_t repeated_tasks = 1'000'000;

template <class Subject>
void grow(Run& run, std::int64_t queued) {
  const auto repetitions = std::max<std::int64_t>(1, run.scaled(repeated_tasks) / queued);
  const auto size = repetitions == 1 ? run.scaled(queued) : queued;
  Subject subject;
  for (std::int64_t i = 0; i < repetitions; ++i) {
    auto done = completion_of<16>(size);
    Gate gate(subject);
    run.start();
    for (std::int64_t task = 0; task < size; ++task) subject.post(make_payload<16>(done, task));
    gate.open();
    done.wait();
    run.stop(size, done.ended());
  }
  run.report_time();
}

}  // namespace

void add_grow(Registry& registry) {
  using Subjects = SubjectList<HeistSubject, AsioSubject, MutexDequeSubject, MutexSwapSubject>;
  for (const auto& [queued, name] :
       {std::pair{1'000, "/1e3"}, std::pair{100'000, "/1e5"}, std::pair{10'000'000, "/1e7"}}) {
    add_for(Subjects(), registry,
            {.workload = std::string("grow") + name, .subject = {}, .unit = "ns", .measure = {}},
            [count = queued]<class Subject>(Run& run) { grow<Subject>(run, count); });
  }
}

}  // namespace bench
