// Delayed stealable tasks, while one agent runs a task for as long as the longest delay (DLY-1,
// DLY-5). That agent has armed half of the delayed tasks itself.
//
// I1  All of them start before that long task ends, which waits for them.
// I2  None of them starts early.
//
// The program prints how late they start after their due times. A tick of 1 ms is a part of that.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <heist/heist.hpp>
#include <utility>
#include <vector>

#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;
using Clock = std::chrono::steady_clock;

constexpr unsigned agents = 2;
constexpr auto interval = std::chrono::milliseconds(5);
constexpr std::size_t delays = 400;  // the longest takes 2 s

class LateTimers {
 public:
  void run(Random& random) {
    const auto busy = static_cast<unsigned>(random.below(agents));
    const auto end = cluster_.agent(busy).scheduler().post_task([this] {
      arm(0);
      await([this] { return left_.load(sync::acquire) == 0; },
            "I1: a delayed task does not start while one agent is busy");
    });
    arm(1);
    end.get();
  }
  /// Adds by how many milliseconds each task was late.
  void add_to(std::vector<double>& late) const {
    for (const Timer& timer : timers_) {
      check(timer.started >= timer.due, "I2: a delayed task starts early");
      late.push_back(std::chrono::duration<double, std::milli>(timer.started - timer.due).count());
    }
  }

 private:
  struct Timer {
    Clock::time_point due;
    Clock::time_point started;
  };

  /// Arms every second delay, from this one on.
  void arm(std::size_t first) {
    for (std::size_t i = first; i < timers_.size(); i += 2) {
      Timer& timer = timers_[i];
      const auto delay = interval * static_cast<std::int64_t>(i + 1);
      timer.due = Clock::now() + delay;
      cluster_.scheduler().post(
          [this, &timer] {
            timer.started = Clock::now();
            left_.fetch_sub(1, sync::acq_rel);
          },
          {.delay = delay});
    }
  }

  std::vector<Timer> timers_ = std::vector<Timer>(delays);
  sync::atomic<std::uint32_t> left_{delays};
  AgentCluster cluster_{{.agents = agents}};
};

void print(std::vector<double> late) {
  std::ranges::sort(late);
  std::printf(
      "%zu delays, one of %u agents busy: late by %.2f ms (median), %.2f (p99), %.2f (most)\n",
      late.size(), agents, late[late.size() / 2], late[late.size() * 99 / 100], late.back());
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("cluster_timers_stress", {argv, static_cast<std::size_t>(argc)});
  std::vector<double> late;
  run_rounds(options, [&late](Random& random) {
    LateTimers timers;
    timers.run(random);
    timers.add_to(late);
  });
  print(std::move(late));
}
