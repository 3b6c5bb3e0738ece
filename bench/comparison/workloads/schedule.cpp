// schedule: a thread connects and starts operations of one scheduler, until the last has completed
// on its worker.
#include "../../subjects/senders/heist_senders.hpp"
#include "batch.hpp"
#include "promises.hpp"
#include "subjects.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

template <class Subject>
void schedule(Run& run) {
  const auto count = run.scaled(posted_batch);
  Subject subject(count);
  warm_up_and_measure(run, [&](bool measured) {
    Completion done(count);
    Producers threads(1, [&](int /*producer*/) {
      for (std::int64_t i = 0; i < count; ++i) subject.start(i, done);
    });
    if (measured) run.start();
    threads.start_and_join();
    done.wait();
    if (measured) run.stop(count, done.ended());
  });
}

}  // namespace

void add_schedule(Registry& registry) {
  add_for(SubjectList<HeistSenders, HeistPosts>(), registry,
          {.workload = "schedule", .subject = {}, .unit = "ns", .measure = {}},
          []<class Subject>(Run& run) { schedule<Subject>(run); });
}

}  // namespace bench
