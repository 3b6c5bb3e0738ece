// Bounded schedulers and ceilings: threads take places, wait for them and give them back, and ask
// for the ceilings of each loop at the same time.
//
// I1  If a scheduler is bounded to one place, only one thread has it at a time.
// I2  Every thread that waits gets a place, and in the end all places are free.
// I3  All threads that ask for a ceiling get the same scheduler.
#include <array>
#include <heist/heist.hpp>
#include <optional>
#include <vector>

#include "support/crew.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;

constexpr std::size_t threads = 3;
constexpr int turns = 256;
constexpr std::size_t loop_count = 8;

class LimitsStress {
 public:
  void round(Random& random) {
    const std::uint64_t seed = random();
    std::array<EventLoop, loop_count> loops;
    std::array<std::array<std::optional<Scheduler>, threads>, loop_count> low;
    // The threads share these. If each had its own, a thread that dropped one would order what it
    // has done before what later threads do.
    std::vector<Scheduler> schedulers;
    for (const EventLoop& loop : loops) schedulers.push_back(loop.scheduler());
    crew_.run([&](std::size_t member) {
      Random own(seed + member);
      for (std::size_t i = 0; i < loop_count; ++i) {
        auto& scheduler = low[i][member];
        scheduler = schedulers[i].with_ceiling(TaskPriority::background);
        // The post looks at the ceiling.
        check(scheduler->post([] {}), "an open loop refused a task");
      }
      for (int turn = 0; turn < turns; ++turn) use(own);
    });
    for (const auto& of_loop : low) {
      for (const auto& one : of_loop) check(one == of_loop[0], "two schedulers of one ceiling");
    }
    check(static_cast<bool>(try_take_room(bound_)), "a place was lost");
  }
  [[nodiscard]] std::uint64_t uses() const noexcept { return uses_; }

 private:
  void use(Random& random) {
    pause(random);
    Room room = random.one_in(2) ? try_take_room(bound_) : wait_for_room(bound_).get();
    if (!room) return;
    ++uses_;
    if (random.one_in(4)) pause(random);
    if (random.one_in(2)) room.leave();
  }

  /// It rarely gives up the processor, because there have to be many turns in which several threads
  /// have one.
  static void pause(Random& random) {
    if (random.one_in(64)) return dither(random);
    const volatile auto steps = random.below(400);
    for (std::uint64_t step = 0; step < steps; ++step) {
    }
  }

  const Ref<PostBound> bound_ = make_post_bound(1);
  std::uint64_t uses_ = 0;  ///< plain data of the thread that has the place
  Crew crew_{threads};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("limits_stress", {argv, static_cast<std::size_t>(argc)});
  LimitsStress stress;
  const auto rounds = run_rounds(options, [&stress](Random& random) { stress.round(random); });
  std::printf("rounds %llu, places used %llu\n", printable(rounds), printable(stress.uses()));
}
