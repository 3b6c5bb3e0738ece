// Long tasks yield to what is more urgent, on an agent and on both agents of a cluster. Meanwhile
// another thread posts such tasks, raises waiting ones, lowers the long ones, and aborts them.
//
// I1  Whatever is more urgent than a long task starts, although that one does not end: no look of
//     it holds for ever (YLD-7).
// I2  An abort ends the long task at its next yield_if_urgent(), with the reason.
#include <array>
#include <heist/heist.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "support/crew.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;

constexpr int works = 3;
constexpr auto lowest = TaskPriority::background;
constexpr auto middle = TaskPriority::user_visible;
constexpr auto highest = TaskPriority::user_blocking;

struct Counts {
  std::uint64_t posted = 0;
  std::uint64_t raised = 0;
  std::uint64_t lowered = 0;
};

/// A long task, until its signal is aborted.
Promise<void> work(std::uint64_t seed) {
  Random random(seed);
  for (;;) {
    for (auto steps = random.below(64); steps > 0; --steps) co_await yield_if_urgent();
    dither(random);
    if (urgent_waiting()) co_await yield_if_urgent();
  }
}

class UrgentWaitingStress {
 public:
  void round(Random& random) {
    TaskController long_tasks(middle);
    const TaskSignal signal = long_tasks.signal();
    std::vector<Promise<void>> ends;
    for (int number = 0; number < works; ++number) {
      const auto begin = [seed = random()] { return work(seed); };
      const Scheduler& to = number == 0 ? alone_ : stealable_;
      ends.push_back(to.post_task(begin, {.signal = signal}));
    }
    for (auto steps = 8 + random.below(16); steps > 0; --steps) one(long_tasks, random);
    long_tasks.abort();
    for (const auto& end : ends) {
      check(end.wait_for(patience), "an abort has not ended a long task");
      check(end.status() == PromiseStatus::rejected, "a long task ended without a reason");
    }
  }
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }

 private:
  /// One thing that a long task has to notice.
  void one(TaskController& long_tasks, Random& random) {
    const std::array places{alone_, stealable_, bound_};
    const Scheduler& to = places[random.below(places.size())];
    // relaxed, all: only the number counts.
    const auto before = ran_.load(sync::relaxed);
    const auto runs = [this] { ran_.fetch_add(1, sync::relaxed); };
    switch (random.below(4)) {
      case 0:
        raise(to, runs);
        break;
      case 1:
        lower(to, runs, long_tasks);
        break;
      case 2:
        check(to.post(runs, {.priority = highest, .delay = std::chrono::microseconds(100)}),
              "an open agent refused a task");
        break;
      default:
        check(to.post(runs, {.priority = highest}), "an open agent refused a task");
    }
    ++counts_.posted;
    await([&] { return ran_.load(sync::relaxed) != before; }, "a more urgent task never started");
    long_tasks.set_priority(middle);
  }
  template <class Runs>
  void raise(const Scheduler& to, const Runs& runs) {
    TaskController controller(lowest);
    check(to.post(runs, {.signal = controller.signal()}), "an open agent refused a task");
    controller.set_priority(highest);
    ++counts_.raised;
  }
  template <class Runs>
  void lower(const Scheduler& to, const Runs& runs, TaskController& long_tasks) {
    check(to.post(runs, {.priority = middle}), "an open agent refused a task");
    long_tasks.set_priority(lowest);
    ++counts_.lowered;
  }

  Agent agent_;
  AgentCluster cluster_{AgentClusterOptions{.agents = 2}};
  Scheduler alone_ = agent_.scheduler();
  Scheduler stealable_ = cluster_.scheduler();
  Scheduler bound_ = cluster_.agent(0).scheduler();
  sync::atomic<std::uint64_t> ran_{0};
  Counts counts_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("urgent_waiting_stress", {argv, static_cast<std::size_t>(argc)});
  UrgentWaitingStress stress;
  const auto rounds = run_rounds(options, [&stress](Random& random) { stress.round(random); });
  const Counts& counts = stress.counts();
  std::printf("rounds %llu, more urgent tasks %llu, of them raised %llu, by lowering %llu\n",
              printable(rounds), printable(counts.posted), printable(counts.raised),
              printable(counts.lowered));
}
