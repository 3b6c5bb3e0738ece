// urgent: how long it takes until a user-blocking task starts while two workers have 200 000 tasks
// in the background, each of which takes 5 us and posts itself again. One such task every 200 us,
// posted by a thread that does not wait for it.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "../../pool_completion.hpp"
#include "../../subjects/urgencies/asio_urgencies.hpp"
#include "../../subjects/urgencies/heist_urgencies.hpp"
#include "../../subjects/urgencies/mutex_urgencies.hpp"
#include "../../subjects/urgencies/raw_urgencies.hpp"
#include "../../subjects/urgencies/tbb_urgencies.hpp"
#include "../statistics.hpp"
#include "grid.hpp"
#include "subjects.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t background_tasks = 200'000;
constexpr std::chrono::microseconds background_work(5);
constexpr std::int64_t samples = 15'000;  // 1e5 in seven rounds
constexpr std::chrono::microseconds interval(200);
constexpr std::chrono::milliseconds settling(20);

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

/// A task for each point of a grid.
class Urgent {
 public:
  explicit Urgent(std::int64_t count)
      : samples_(std::size_t(count)),
        started_(count, std::uint64_t(count) * std::uint64_t(count - 1) / 2) {}

  template <class Subject>
  void post_all(Subject& subject) {
    Grid grid(Clock::now() + settling, interval);
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      grid.wait_for(std::int64_t(i));
      samples_[i].point = grid.point(std::int64_t(i));
      samples_[i].due = grid.due(std::int64_t(i));
      subject.post_urgent([this, i] { start(i); });
    }
    started_.wait();
  }
  /// Microseconds from when each task was due; or from its point.
  [[nodiscard]] std::vector<double> delays() const { return since(&Sample::due); }
  [[nodiscard]] std::vector<double> grid_delays() const { return since(&Sample::point); }

 private:
  struct Sample {
    Clock::time_point point;
    Clock::time_point due;
    Clock::time_point started;
  };

  void start(std::size_t index) noexcept {
    samples_[index].started = Clock::now();
    started_.add(index);
  }
  [[nodiscard]] std::vector<double> since(Clock::time_point Sample::* time) const {
    std::vector<double> result;
    for (const Sample& sample : samples_) {
      const std::chrono::duration<double, std::micro> delay = sample.started - sample.*time;
      if (delay.count() < 0) std::abort();
      result.push_back(delay.count());
    }
    return result;
  }

  std::vector<Sample> samples_;
  PoolCompletion started_;
};

template <class Subject>
void urgent(Run& run) {
  Subject subject;
  Background background(subject, run.scaled(background_tasks));
  Urgent tasks(run.scaled(samples));
  run.start();
  tasks.post_all(subject);
  run.stop(run.scaled(samples));
  background.stop();
  for (const auto& delays : {tasks.delays(), tasks.grid_delays()}) {
    for (const double share : {0.5, 0.99, 0.999}) run.report(percentile(delays, share));
  }
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
