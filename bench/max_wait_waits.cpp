// Question: how long do background tasks wait while user-blocking ones keep every agent busy,
// without and with a maximum wait, on a loop and in a cluster of two agents?
//
// usage: heist_max_wait_waits [SECONDS]    writes a table, for scripts/plot_max_wait
//
// For three quarters of the time four tasks for each agent post themselves again, each taking 100
// us. A background task comes every 10 ms, to the end.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <heist/heist.hpp>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr auto background_most = 200ms;
constexpr auto period = 10ms;
constexpr auto work = 100us;

struct Wait {
  Clock::duration posted;
  Clock::duration wait;
};

void spend(Clock::duration time) {
  const auto end = Clock::now() + time;
  while (Clock::now() < end) {
  }
}

/// One run, on one scheduler.
class Overload {
 public:
  Overload(heist::Scheduler scheduler, Clock::duration length)
      : scheduler_(std::move(scheduler)),
        end_(start_ + length),
        end_of_flood_(start_ + length * 3 / 4) {}

  std::vector<Wait> run(unsigned agents) {
    for (unsigned task = 0; task < 4 * agents; ++task) flood();
    unsigned posted = 0;
    for (auto next = start_; next < end_; next += period, ++posted) {
      std::this_thread::sleep_until(next);
      post_background();
    }
    while (ran_.load() != posted) std::this_thread::sleep_for(period);
    const std::scoped_lock lock(mutex_);
    return waits_;
  }

 private:
  void flood() {
    if (Clock::now() > end_of_flood_) return;
    scheduler_.post(
        [this] {
          spend(work);
          flood();
        },
        {.priority = heist::TaskPriority::user_blocking});
  }
  void post_background() {
    scheduler_.post(
        [this, posted = Clock::now()] {
          const std::scoped_lock lock(mutex_);
          waits_.push_back({posted - start_, Clock::now() - posted});
          ran_.fetch_add(1);
        },
        {.priority = heist::TaskPriority::background});
  }

  heist::Scheduler scheduler_;
  const Clock::time_point start_ = Clock::now();
  const Clock::time_point end_;
  const Clock::time_point end_of_flood_;
  std::mutex mutex_;
  std::vector<Wait> waits_;
  std::atomic<unsigned> ran_{0};
};

heist::EventLoopOptions options(bool guarded) {
  heist::EventLoopOptions loop;
  if (guarded) loop.max_wait.background = background_most;
  return loop;
}

std::vector<Wait> on_a_loop(bool guarded, Clock::duration length) {
  heist::Agent agent({.loop = options(guarded)});
  auto waits = Overload(agent.scheduler(), length).run(1);
  agent.close(heist::CloseMode::drain());
  return waits;
}

std::vector<Wait> in_a_cluster(bool guarded, Clock::duration length) {
  heist::AgentCluster cluster({.agents = 2, .loop = options(guarded)});
  auto waits = Overload(cluster.scheduler(), length).run(2);
  cluster.close(heist::CloseMode::drain());
  return waits;
}

void write(const char* where, bool guarded, std::vector<Wait> waits) {
  std::ranges::sort(waits, {}, &Wait::posted);
  for (const auto& each : waits) {
    std::printf("%s\t%s\t%.4f\t%.6f\n", where, guarded ? "200ms" : "none",
                Seconds(each.posted).count(), Seconds(each.wait).count());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 4;
  const auto length = std::chrono::duration_cast<Clock::duration>(Seconds(seconds));
  std::printf("where\tmax_wait\tposted\twait\n");
  for (const bool guarded : {false, true}) {
    write("loop", guarded, on_a_loop(guarded, length));
    write("cluster", guarded, in_a_cluster(guarded, length));
  }
}
