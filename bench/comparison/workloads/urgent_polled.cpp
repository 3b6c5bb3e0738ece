// urgent_polled: as urgent, with 200 background tasks, each of which works for 1 ms, posts itself
// again, and asks meanwhile, some ten million times a second, whether something urgent waits. heist
// yields then. What one writes by hand runs the urgent task within the background one. The others
// have nothing that a task could ask.
#include <atomic>
#include <chrono>
#include <heist/promise.hpp>

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

constexpr std::int64_t background_tasks = 200;
constexpr std::chrono::milliseconds background_work(1);

/// Keeps the workers busy until stop(); then each of the tasks must come to its end once.
template <class Subject>
class PolledBackground {
 public:
  PolledBackground(Subject& subject, std::int64_t tasks) : subject_(subject), ended_(tasks) {
    for (std::int64_t i = 0; i < tasks; ++i) subject_.post_background(Task{this});
  }
  void stop() noexcept {
    stopped_.store(true, std::memory_order_relaxed);
    ended_.wait();
  }

 private:
  struct Task {
    PolledBackground* background;
    void operator()() const { background->step(); }
  };

  void step() {
    if (stopped_.load(std::memory_order_relaxed)) return ended_.add(1);
    if constexpr (requires { subject_.let_urgent_go(); }) {
      static_cast<void>(work_in_turns());
    } else {
      work();
      post_again();
    }
  }
  heist::Promise<void> work_in_turns() {
    const auto end = Clock::now() + background_work;
    while (Clock::now() < end) co_await subject_.let_urgent_go();
    post_again();
  }
  void work() {
    const auto end = Clock::now() + background_work;
    while (Clock::now() < end) {
      if constexpr (requires { subject_.run_urgent(); }) subject_.run_urgent();
    }
  }
  void post_again() {
    if constexpr (requires { subject_.post_background_inside(Task{this}); }) {
      subject_.post_background_inside(Task{this});
    } else {
      subject_.post_background(Task{this});
    }
  }

  Subject& subject_;
  PoolCompletion ended_;
  std::atomic<bool> stopped_{false};
};

template <class Subject>
void urgent_polled(Run& run) {
  Subject subject;
  PolledBackground background(subject, background_tasks);
  UrgentTasks tasks(run.scaled(urgent_samples));
  run.start();
  tasks.post_all(subject);
  run.stop(run.scaled(urgent_samples));
  background.stop();
  report_tail(run, tasks.delays());
}

}  // namespace

void add_urgent_polled(Registry& registry) {
  using Subjects = SubjectList<HeistUrgencies, HeistBoundUrgencies, TbbUrgencies, AsioUrgencies,
                               MutexUrgencies, RawUrgencies>;
  add_for(Subjects(), registry,
          {.workload = "urgent_polled",
           .subject = {},
           .unit = "us",
           .measure = {},
           .figures = {"/p50", "/p99", "/p999"}},
          []<class Subject>(Run& run) { urgent_polled<Subject>(run); });
}

}  // namespace bench
