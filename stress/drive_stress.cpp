// An embedded loop: two threads take turns at driving it, and others post to it and stop it.
//
// I1  One thread drives at a time. A second one gets an error, and the agent's state passes whole
//     to the next thread that drives.
// I2  stop() ends a run(), also when several threads call it at once. No call is lost.
// I3  Every task runs exactly once, and none at the same time as another one.
#include <array>
#include <heist/heist.hpp>
#include <vector>

#include "support/crew.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;

constexpr std::size_t drivers = 2;
constexpr std::uint64_t tasks = 24;

struct Counts {
  std::uint64_t tasks = 0;
  std::uint64_t turns = 0;
  std::uint64_t refused = 0;
};

class DriveStress {
 public:
  void round(Random& random) {
    ran_ = 0;
    const std::uint64_t seed = random();
    drivers_left_.store(drivers, sync::relaxed);  // relaxed: before the start.
    posted_.store(false, sync::relaxed);          // relaxed: before the start.
    crew_.run([this, seed](std::size_t member) {
      Random own(seed + member);
      if (member < drivers) return drive(member, own);
      if (member == drivers) post_all(own);
      stop_all(own);
    });
    loop_.run_until_idle();
    check(ran_ == tasks, "a task did not run exactly once");
    counts_.tasks += ran_;
  }

  [[nodiscard]] Counts counts() const {
    Counts counts = counts_;
    for (std::size_t driver = 0; driver < drivers; ++driver) {
      counts.turns += turns_[driver];
      counts.refused += refused_[driver];
    }
    return counts;
  }

 private:
  void drive(std::size_t driver, Random& random) {
    // relaxed: it ends the round, and carries nothing.
    while (!posted_.load(sync::relaxed)) {
      try {
        random.one_in(4) ? loop_.run() : static_cast<void>(loop_.poll());
        ++turns_[driver];
      } catch (const NotAllowedError&) {
        ++refused_[driver];
      }
      dither(random);
    }
    drivers_left_.fetch_sub(1, sync::relaxed);  // relaxed: as above.
  }

  void post_all(Random& random) {
    for (std::uint64_t i = 0; i < tasks; ++i) {
      check(scheduler_.post([this] { run(); }), "an open loop refused a task");
      dither(random);
    }
    posted_.store(true, sync::relaxed);  // relaxed: see drive().
  }

  void run() {
    check(!inside_, "two threads drove the loop at once");
    inside_ = true;
    ++ran_;
    inside_ = false;
  }

  /// Calls stop() until every driver has left its run().
  void stop_all(Random& random) {
    while (drivers_left_.load(sync::relaxed) > 0) {  // relaxed: see drive().
      loop_.stop();
      dither(random);
    }
  }

  EventLoop loop_;
  Scheduler scheduler_ = loop_.scheduler();
  std::uint64_t ran_ = 0;  ///< belongs to the driver
  bool inside_ = false;    ///< belongs to the driver
  sync::atomic<std::size_t> drivers_left_{0};
  sync::atomic<bool> posted_{false};
  std::array<std::uint64_t, drivers> turns_{};
  std::array<std::uint64_t, drivers> refused_{};
  Counts counts_;
  Crew crew_{drivers + 2};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("drive_stress", {argv, static_cast<std::size_t>(argc)});
  DriveStress stress;
  const auto rounds = run_rounds(options, [&stress](Random& random) { stress.round(random); });
  const Counts counts = stress.counts();
  std::printf("rounds %llu, tasks %llu, turns %llu, refused turns %llu\n", printable(rounds),
              printable(counts.tasks), printable(counts.turns), printable(counts.refused));
  check(counts.turns > 0, "nobody ever drove");
}
