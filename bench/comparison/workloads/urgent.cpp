// urgent: how long it takes until a user-blocking task starts while two workers have 200 000 tasks
// in the background, each of which takes 5 us and posts itself again. One such task every 200 us,
// posted by a thread that does not wait for it.
#include <chrono>

#include "../../subjects/urgencies/asio_urgencies.hpp"
#include "../../subjects/urgencies/heist_urgencies.hpp"
#include "../../subjects/urgencies/mutex_urgencies.hpp"
#include "../../subjects/urgencies/raw_urgencies.hpp"
#include "../../subjects/urgencies/tbb_urgencies.hpp"
#include "background.hpp"
#include "subjects.hpp"
#include "urgent_tasks.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

constexpr std::int64_t background_tasks = 200'000;
constexpr std::chrono::microseconds background_work(5);

template <class Subject>
void urgent(Run& run) {
  Subject subject;
  Background background(subject, run.scaled(background_tasks), background_work);
  UrgentTasks tasks(run.scaled(urgent_samples));
  run.start();
  tasks.post_all(subject);
  run.stop(run.scaled(urgent_samples));
  background.stop();
  for (const auto& delays : {tasks.delays(), tasks.grid_delays()}) report_tail(run, delays);
}

}  // namespace

void add_urgent(Registry& registry) {
  using Subjects = SubjectList<HeistUrgencies, HeistBoundUrgencies, TbbUrgencies, AsioUrgencies,
                               MutexUrgencies, RawUrgencies>;
  add_for(Subjects(), registry,
          {.workload = "urgent",
           .subject = {},
           .unit = "us",
           .measure = {},
           .figures = {"/p50", "/p99", "/p999", "/grid_p50", "/grid_p99", "/grid_p999"}},
          []<class Subject>(Run& run) { urgent<Subject>(run); });
}

}  // namespace bench
