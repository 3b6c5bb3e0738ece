// urgent: how long it takes until a user-blocking task starts while two workers have 200 000 tasks
// in the background, each of which takes 5 us and posts itself again. One such task every 200 us,
// posted by a thread that does not wait for it.
#include <atomic>
#include <chrono>

#include "../../pool_completion.hpp"
#include "../../subjects/urgencies/asio_urgencies.hpp"
#include "../../subjects/urgencies/heist_urgencies.hpp"
#include "../../subjects/urgencies/mutex_urgencies.hpp"
#include "../../subjects/urgencies/raw_urgencies.hpp"
#include "../../subjects/urgencies/tbb_urgencies.hpp"
#include "subjects.hpp"
#include "urgent_tasks.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t background_tasks = 200'000;
constexpr std::chrono::microseconds background_work(5);

void work_for(Clock::duration time) noexcept {
  const auto end = Clock::now() + time;
  while (Clock::now() < end) {
  }
}

/// Keeps the workers busy until stop(); then each of the tasks must come to its end once.
template <class Subject>
class Background {
 public:
  Background(Subject& subject, std::int64_t tasks) : subject_(subject), ended_(tasks) {
    for (std::int64_t i = 0; i < tasks; ++i) subject_.post_background(Task{this});
  }
  void stop() noexcept {
    stopped_.store(true, std::memory_order_relaxed);
    ended_.wait();
  }

 private:
  struct Task {
    Background* background;
    void operator()() const { background->step(*this); }
  };

  void step(const Task& task) {
    if (stopped_.load(std::memory_order_relaxed)) return ended_.add(1);
    work_for(background_work);
    if constexpr (requires { subject_.post_background_inside(task); }) {
      subject_.post_background_inside(task);
    } else {
      subject_.post_background(task);
    }
  }

  Subject& subject_;
  PoolCompletion ended_;
  std::atomic<bool> stopped_{false};
};

template <class Subject>
void urgent(Run& run) {
  Subject subject;
  Background background(subject, run.scaled(background_tasks));
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
