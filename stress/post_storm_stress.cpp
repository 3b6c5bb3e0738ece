// Post storm: several threads post to two agents, at all priorities and by all kinds of posts. Some
// tasks are delayed.
//
// I1  Every task runs exactly once, on its own agent, and its callback is destroyed exactly once.
// I2  A delayed task is never early.
// I3  No wake-up is lost: every round ends.
#include <chrono>
#include <heist/heist.hpp>
#include <vector>

#include "support/cell.hpp"
#include "support/crew.hpp"
#include "support/fence.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;
using Clock = std::chrono::steady_clock;

constexpr std::size_t posters = 3;
constexpr std::size_t most_posts = 8;

struct Counts {
  std::uint64_t tasks = 0;
  std::uint64_t delayed = 0;
};

AgentOptions quick_agent() {
  AgentOptions options;
  options.loop.tick = std::chrono::microseconds(50);
  return options;
}

class Storm {
 public:
  void round(Random& random) {
    const std::uint64_t seed = random();
    cells_.assign(posters * most_posts, {});
    ran_.store(0, sync::relaxed);  // relaxed: the crew's start publishes it.
    crew_.run([this, seed](std::size_t member) { post_some(member, Random(seed + member)); });
    // relaxed: only the number; the fence orders what the tasks did.
    await([this] { return ran_.load(sync::relaxed) == expected(); }, "a posted task never ran");
    for (Agent& agent : agents_) fence(agent.scheduler());
    check_cells();
  }

  [[nodiscard]] Counts counts() const { return counts_; }
  [[nodiscard]] std::uint64_t wakeups() const {
    return agents_[0].stats().wakeups_sent + agents_[1].stats().wakeups_sent;
  }

 private:
  void post_some(std::size_t member, Random random) {
    const std::size_t count = 1 + random.below(most_posts);
    counts_of_[member] = {};
    for (std::size_t i = 0; i < count; ++i) {
      post_one(cells_[member * most_posts + i], counts_of_[member], random);
      dither(random);
    }
    counts_of_[member].tasks = count;
  }

  void post_one(Cell& cell, Counts& counts, Random& random) {
    Agent& agent = agents_[random.below(2)];
    PostTaskOptions options;
    if (!random.one_in(3)) options.priority = priorities[random.below(3)];
    if (random.one_in(6)) options.signal = signal_of_all_;
    auto earliest = Clock::time_point::min();
    if (random.one_in(8)) {
      const auto delay = std::chrono::microseconds(random.below(300));
      options.delay = delay;
      earliest = Clock::now() + delay;
      ++counts.delayed;
    }
    auto callback = witnessed(cell, [this, &agent, earliest] {
      check(Agent::current() == &agent, "a task ran on the wrong agent");
      check(Clock::now() >= earliest, "a delayed task was early");
      ran_.fetch_add(1, sync::relaxed);  // relaxed: a count.
    });
    const Scheduler scheduler = agent.scheduler();
    const auto kind = random.below(3);
    if (kind == 0) {
      static_cast<void>(scheduler.post_task(std::move(callback), options));
    } else if (kind == 1 && options.delay.is_zero() && !options.signal) {
      check(scheduler.post(std::move(callback)), "an open agent refused a task");
    } else {
      check(scheduler.post(std::move(callback), options), "an open agent refused a task");
    }
  }

  std::uint64_t expected() const {
    std::uint64_t tasks = 0;
    for (const Counts& counts : counts_of_) tasks += counts.tasks;
    return tasks;
  }

  void check_cells() {
    for (std::size_t member = 0; member < posters; ++member) {
      for (std::size_t i = 0; i < most_posts; ++i) {
        const Cell& cell = cells_[member * most_posts + i];
        const std::uint32_t posted = i < counts_of_[member].tasks ? 1 : 0;
        check(cell.runs == posted, "a task did not run exactly once");
        check(cell.destroyed == posted, "a callback was not destroyed exactly once");
      }
      counts_.tasks += counts_of_[member].tasks;
      counts_.delayed += counts_of_[member].delayed;
    }
  }

  std::vector<Cell> cells_;
  Counts counts_of_[posters];
  Counts counts_;
  sync::atomic<std::uint64_t> ran_{0};
  TaskController controller_;
  AbortSignal signal_of_all_ = controller_.signal();
  Agent agents_[2] = {Agent(quick_agent()), Agent(quick_agent())};
  Crew crew_{posters};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("post_storm_stress", {argv, static_cast<std::size_t>(argc)});
  Storm storm;
  const auto rounds = run_rounds(options, [&storm](Random& random) { storm.round(random); });
  const Counts counts = storm.counts();
  std::printf("rounds %llu, tasks %llu, delayed %llu, wake-ups %llu\n", printable(rounds),
              printable(counts.tasks), printable(counts.delayed), printable(storm.wakeups()));
}
