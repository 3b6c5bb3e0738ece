// Timeouts on two agents, which arm and clear them and let them expire. Meanwhile another thread
// destroys handles, or calls clear() although it may not.
//
// I1  Either a timeout runs once, not before its delay is over (DLY-1), or its agent's clear()
//     returned true. Never both happen, and never neither.
// I2  Its callback is destroyed once.
// I3  Another thread's clear() does nothing when the timeout is over, and is refused before that.
#include <array>
#include <chrono>
#include <heist/heist.hpp>
#include <utility>

#include "support/cell.hpp"
#include "support/fence.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::stress;
using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr microseconds tick(20);
constexpr microseconds longest = 4 * tick;

struct Timer {
  Cell cell;
  Timeout handle;
  bool is_foreign = false;  ///< the thread that drives the rounds uses its handle
  bool is_cleared = false;
};
using Timers = std::array<Timer, 24>;

struct Counts {
  std::uint64_t cleared = 0;
  std::uint64_t expired = 0;
  std::uint64_t over = 0;
  std::uint64_t refused = 0;
};

AgentOptions quick_agent() {
  AgentOptions options;
  options.loop.tick = tick;
  return options;
}

void arm(Timers& timers, Random random) {
  for (Timer& timer : timers) {
    const auto delay = tick * random.below(5);
    const auto earliest = Clock::now() + delay;
    timer.is_foreign = random.one_in(2);
    timer.handle = set_timeout(
        witnessed(timer.cell,
                  [earliest] { check(Clock::now() >= earliest, "a timeout was early"); }),
        delay);
  }
}

void clear(Timers& timers, Random random) {
  for (Timer& timer : timers) {
    if (timer.is_foreign || random.one_in(3)) continue;
    dither(random);
    timer.is_cleared = timer.handle.clear();
    check(timer.cell.runs == (timer.is_cleared ? 0 : 1), "clear() is wrong about the run");
    check(timer.cell.destroyed == 1, "a cleared callback is still there");
  }
}

class TimeoutRounds {
 public:
  void round(Random& random) {
    for (auto& timers : timers_) timers = {};
    on_agents(random, &arm);
    std::array<Promise<void>, 2> clearing = start(random, &clear);
    for (auto& timers : timers_) use_foreign_handles(timers, random);
    for (auto& promise : clearing) promise.get();
    outlast_timers();
    for (auto& timers : timers_) check_all(timers);
  }

  [[nodiscard]] Counts counts() const { return counts_; }

 private:
  using Job = void (*)(Timers&, Random);

  std::array<Promise<void>, 2> start(Random& random, Job job) {
    const auto start_on = [&](std::size_t agent) {
      return agents_[agent].scheduler().post_task(
          [&timers = timers_[agent], own = Random(random()), job] { job(timers, own); });
    };
    return {start_on(0), start_on(1)};
  }
  void on_agents(Random& random, Job job) {
    for (auto& promise : start(random, job)) promise.get();
  }

  void use_foreign_handles(Timers& timers, Random& random) {
    for (Timer& timer : timers) {
      if (!timer.is_foreign) continue;
      dither(random);
      if (random.one_in(2)) try_clear(timer);
      timer.handle = {};
    }
  }
  void try_clear(Timer& timer) {
    try {
      check(!timer.handle.clear(), "another thread cleared a timeout");
      check(timer.cell.runs == 1 && timer.cell.destroyed == 1, "over, and has not run");
      ++counts_.over;
    } catch (const NotAllowedError&) {
      ++counts_.refused;
    }
  }

  void outlast_timers() {
    for (Agent& agent : agents_) {
      agent.scheduler()
          .post_task([] {}, {.priority = TaskPriority::background, .delay = longest + tick})
          .get();
    }
  }

  void check_all(const Timers& timers) {
    for (const Timer& timer : timers) {
      check(timer.cell.runs == (timer.is_cleared ? 0 : 1), "a timeout ran not, or twice");
      check(timer.cell.destroyed == 1, "a callback was not destroyed exactly once");
      ++(timer.is_cleared ? counts_.cleared : counts_.expired);
    }
  }

  std::array<Timers, 2> timers_;
  Counts counts_;
  Agent agents_[2] = {Agent(quick_agent()), Agent(quick_agent())};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("timeout_stress", {argv, static_cast<std::size_t>(argc)});
  TimeoutRounds stress;
  const auto rounds = run_rounds(options, [&stress](Random& random) { stress.round(random); });
  const Counts counts = stress.counts();
  std::printf("rounds %llu, cleared %llu, expired %llu; elsewhere: over %llu, refused %llu\n",
              printable(rounds), printable(counts.cleared), printable(counts.expired),
              printable(counts.over), printable(counts.refused));
  check(counts.cleared > 0 && counts.expired > 0, "no timeout was cleared, or none expired");
  check(counts.over > 0 && counts.refused > 0, "one outcome of the race was never seen");
}
