// Traces come and go while two threads run tasks.
//
// I1  A trace has no more events than were recorded, and each is kept, overwritten, or counted as
//     lost for want of room.
// I2  A thread that has recorded in a trace finds room in the next one, too.
#include <heist/heist.hpp>

#include "support/crew.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;

constexpr std::size_t runners = 2;
constexpr std::uint64_t tasks_each = 40;
constexpr std::uint64_t events_of_task = 3;
constexpr int traces = 8;
/// Each runner may have a ring twice, if it is late for the end of the trace before.
constexpr std::size_t rings = 2 * runners;
/// Threads change rings between traces of different sizes. The first trace of a size makes its
/// rings, which stay: each size is one chance to use rings whose making was not acquired.
constexpr std::size_t least_size = 3;
constexpr std::size_t sizes = 64;

class TraceStress {
 public:
  void round(Random& random) {
    const std::uint64_t seed = random();
    crew_.run([this, seed](std::size_t member) {
      Random own(seed + member);
      member == 0 ? trace(own) : run(loops_[member - 1], own);
    });
  }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }

 private:
  void trace(Random& random) {
    for (int i = 0; i < traces; ++i) {
      Trace trace({.events_per_thread = least_size + random.below(sizes), .threads = rings});
      dither(random);
      static_cast<void>(trace.counts());
      dither(random);
      trace.stop();
      const TraceCounts counts = trace.counts();
      check(counts.events + counts.overwritten <= runners * tasks_each * events_of_task,
            "an event was counted that nobody recorded");
      check(counts.without_thread == 0, "a thread found no room");
      events_ += counts.events;
    }
  }

  static void run(EventLoop& loop, Random& random) {
    std::uint64_t ran = 0;
    for (std::uint64_t i = 0; i < tasks_each; ++i) {
      check(loop.scheduler().post([&ran] { ++ran; }), "an open loop refused a task");
      if (random.one_in(2)) loop.run_until_idle();
      dither(random);
    }
    loop.run_until_idle();
    check(ran == tasks_each, "a task did not run exactly once");
  }

  std::array<EventLoop, runners> loops_;
  std::uint64_t events_ = 0;
  Crew crew_{1 + runners};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("trace_stress", {argv, static_cast<std::size_t>(argc)});
  TraceStress stress;
  const auto rounds = run_rounds(options, [&stress](Random& random) { stress.round(random); });
  std::printf("rounds %llu, events %llu\n", printable(rounds), printable(stress.events()));
}
