// set_priority: raises a signal under which that many tasks are queued above a task that waits
// between, and picks and runs the next, which must be the signal's. No peer can do that.
#include <chrono>
#include <cstdlib>
#include <heist/event_loop.hpp>
#include <heist/task_signal.hpp>
#include <string>
#include <vector>

#include "../statistics.hpp"
#include "subjects.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

using Clock = std::chrono::steady_clock;
using heist::TaskPriority;

constexpr std::int64_t changes = 2'000;

/// A loop with tasks of one signal in the background, and a user-visible task before them.
class Backlog {
 public:
  explicit Backlog(std::int64_t tasks) {
    scheduler_.post([this] { between_ran_ = true; });
    for (std::int64_t i = 0; i < tasks; ++i) post_signalled();
    settle();
  }
  /// The time of the change and of the next pick; all is as before afterwards.
  std::chrono::nanoseconds raise() {
    const auto ran_before = signalled_ran_;
    const auto began = Clock::now();
    controller_.set_priority(TaskPriority::user_blocking);
    loop_.run_one();
    const auto took = Clock::now() - began;
    if (signalled_ran_ != ran_before + 1 || between_ran_) std::abort();
    controller_.set_priority(TaskPriority::background);
    post_signalled();
    settle();
    return took;
  }

 private:
  void post_signalled() {
    scheduler_.post([this] { ++signalled_ran_; }, {.signal = controller_.signal()});
  }
  /// Takes what was posted from the inbox to the queues, by a task above all others.
  void settle() {
    scheduler_.post([] {}, {.priority = TaskPriority::user_blocking});
    loop_.run_one();
  }

  heist::EventLoop loop_;
  heist::Scheduler scheduler_ = loop_.scheduler();
  heist::TaskController controller_{TaskPriority::background};
  std::int64_t signalled_ran_ = 0;
  bool between_ran_ = false;
};

void set_priority(Run& run, std::int64_t tasks) {
  Backlog backlog(run.scaled(tasks));
  std::vector<double> times;
  const auto count = run.scaled(changes);
  run.start();
  for (std::int64_t i = 0; i < count; ++i) times.push_back(double(backlog.raise().count()));
  run.stop(count);
  run.report(percentile(times, 0.5));
}

}  // namespace

void add_set_priority(Registry& registry) {
  for (const auto& [tasks, name] :
       {std::pair{1, "/1"}, std::pair{1'000, "/1e3"}, std::pair{1'000'000, "/1e6"}}) {
    registry.add({.workload = std::string("set_priority") + name,
                  .subject = HeistSubject::name,
                  .unit = "ns",
                  .measure = [count = tasks](Run& run) { set_priority(run, count); }});
  }
}

}  // namespace bench
