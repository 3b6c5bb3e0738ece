// Timers from foreign threads: delays are armed by posts and cancelled by aborts, while two agents
// let them expire.
//
// I1  Either a delayed task runs once, not before its delay is over (DLY-1), or its promise rejects
//     with the reason of its signal. Never both happen, and never neither.
// I2  Aborted tasks leave nothing behind: every callback is destroyed once, also that of a task
//     with an hour's delay (ABT-4), and an agent does not wait for timers that are gone.
// I3  Of two posts of one thread to one agent, the first one starts first if its delay is not
//     longer (DLY-2).
#include <array>
#include <chrono>
#include <heist/heist.hpp>
#include <optional>
#include <vector>

#include "support/cell.hpp"
#include "support/crew.hpp"
#include "support/fence.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::stress;
using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr std::size_t posters = 2;
constexpr std::size_t signals = 3;
constexpr std::size_t most_timers = 12;

struct Timer {
  Cell cell;
  microseconds delay{};
  std::size_t agent = 0;
  std::size_t signal = 0;     ///< `signals` means none
  std::uint64_t started = 0;  ///< its place among the starts on its agent
};

struct Counts {
  std::uint64_t expired = 0;
  std::uint64_t cancelled = 0;
};

AgentOptions quick_agent() {
  AgentOptions options;
  options.loop.tick = microseconds(20);
  return options;
}

class TimerForeign {
 public:
  void round(Random& random) {
    for (auto& controller : controllers_) controller.emplace();
    const std::size_t count = 1 + random.below(most_timers);
    for (auto& timers : timers_) timers.assign(count, {});
    for (auto& promises : promises_of_) promises.clear();
    const std::uint64_t seed = random();
    crew_.run([this, seed](std::size_t member) {
      Random own(seed + member);
      member == 0 ? cancel(own) : arm(member - 1, own);
    });
    check_round();
  }

  [[nodiscard]] Counts counts() const { return counts_; }

 private:
  void arm(std::size_t poster, Random& random) {
    for (Timer& timer : timers_[poster]) {
      arm_one(timer, promises_of_[poster], random);
      if (random.one_in(2)) dither(random);
    }
  }

  void arm_one(Timer& timer, std::vector<Promise<void>>& promises, Random& random) {
    timer.agent = random.below(2);
    timer.signal = random.below(signals + 1);
    timer.delay = microseconds(random.below(5) * 20);
    // Only a task that will be cancelled may be delayed by an hour.
    if (timer.signal < signals && random.one_in(2)) timer.delay = std::chrono::hours(1);
    PostTaskOptions options{.delay = timer.delay};
    if (timer.signal < signals) options.signal = controllers_[timer.signal]->signal();
    const auto earliest = Clock::now() + timer.delay;
    promises.push_back(agents_[timer.agent].scheduler().post_task(
        witnessed(timer.cell,
                  [this, &timer, earliest] {
                    check(Clock::now() >= earliest, "a delayed task was early");
                    timer.started = ++started_[timer.agent];
                  }),
        options));
  }

  void cancel(Random& random) {
    for (std::size_t signal = 0; signal < signals; ++signal) {
      for (auto steps = random.below(12); steps > 0; --steps) dither(random);
      controllers_[signal]->abort(static_cast<int>(signal));
    }
  }

  void check_round() {
    for (std::size_t poster = 0; poster < posters; ++poster) {
      auto& timers = timers_[poster];
      for (std::size_t i = 0; i < timers.size(); ++i) {
        check(promises_of_[poster][i].wait_for(std::chrono::seconds(60)),
              "a delayed task neither ran nor was cancelled");
      }
    }
    for (Agent& agent : agents_) fence_twice(agent.scheduler());
    for (std::size_t poster = 0; poster < posters; ++poster) check_poster(poster);
  }

  void check_poster(std::size_t poster) {
    const auto& timers = timers_[poster];
    for (std::size_t i = 0; i < timers.size(); ++i) {
      const Timer& timer = timers[i];
      const auto& promise = promises_of_[poster][i];
      if (promise.status() == PromiseStatus::fulfilled) {
        check(timer.cell.runs == 1, "a task was fulfilled that did not run once");
        ++counts_.expired;
      } else {
        check(timer.cell.runs <= 1, "a task ran twice");
        check(promise.reason() == controllers_[timer.signal]->signal().reason(),
              "a promise was rejected with another reason");
        ++counts_.cancelled;
      }
      check(timer.cell.destroyed == 1, "a callback was not destroyed exactly once");
      for (std::size_t earlier = 0; earlier < i; ++earlier) check_pair(timers[earlier], timer);
    }
  }

  static void check_pair(const Timer& earlier, const Timer& later) {
    const bool both_ran = earlier.started != 0 && later.started != 0;
    if (!both_ran || earlier.agent != later.agent || earlier.delay > later.delay) return;
    check(earlier.started < later.started, "DLY-2 violated: a later, longer delay ran first");
  }

  std::array<std::optional<AbortController>, signals> controllers_;
  std::array<std::vector<Timer>, posters> timers_;
  std::array<std::vector<Promise<void>>, posters> promises_of_;
  std::array<std::uint64_t, 2> started_{};  ///< each belongs to its agent
  Counts counts_;
  Agent agents_[2] = {Agent(quick_agent()), Agent(quick_agent())};
  Crew crew_{1 + posters};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("timer_foreign_stress", {argv, static_cast<std::size_t>(argc)});
  TimerForeign stress;
  const auto rounds = run_rounds(options, [&stress](Random& random) { stress.round(random); });
  const Counts counts = stress.counts();
  std::printf("rounds %llu, expired %llu, cancelled %llu\n", printable(rounds),
              printable(counts.expired), printable(counts.cancelled));
  check(counts.expired > 0 && counts.cancelled > 0, "one outcome of the race was never seen");
}
