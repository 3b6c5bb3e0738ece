// Threads change the priority of one signal without end, while each call of its listener takes a
// millisecond.
//
// I1  A call of set_priority calls the listener once, and once more for each call of another thread
//     that came and left meanwhile. So the other callers bound what one caller does.
// I2  All values that come during an event are delivered as one change, to the last of them. The
//     values are random, so in one case of three nothing is left to deliver after an event, and no
//     call delivers for long, however fast the others are.
// I3  The events come one at a time. The old value of each is the new value of the one before, and
//     the last event carries the last value.
// I4  A listener that is told of a call sees what the caller wrote before it. The next call of a
//     listener sees what the listener wrote before, whichever thread calls it.
#include <algorithm>
#include <array>
#include <chrono>
#include <heist/heist.hpp>
#include <optional>

#include "support/crew.hpp"
#include "support/fence.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t callers = 3;
constexpr auto listener_takes = 1ms;
constexpr auto round_takes = 30ms;
constexpr std::size_t loop_count = 16;
constexpr std::uint64_t events_bound = 64;  ///< the probability of so many in a row is (2/3)^64

void be_busy_for(Clock::duration time) {
  for (const auto end = Clock::now() + time; Clock::now() < end;) {
  }
}

class SlowListener {
 public:
  void round(Random& random) {
    random.one_in(16) ? set_any(random) : set_each_its_own(random);
    check(last_ == controller_->signal().priority(), "the last event is not the last value");
  }

  void print() const {
    std::printf("calls %llu, events %llu; in one call at most %llu events, %lld us\n",
                printable(calls_), printable(events_), printable(most_events_),
                static_cast<long long>(
                    std::chrono::duration_cast<std::chrono::microseconds>(longest_).count()));
  }
  [[nodiscard]] std::uint64_t events() const { return events_; }

 private:
  /// What a caller has seen. It is plain data of the caller until the round is over.
  struct alignas(64) Caller {
    std::uint64_t calls = 0;
    std::uint64_t most_events = 0;
    Clock::duration longest{};
  };

  void begin(TaskPriority priority) {
    controller_.emplace(priority);
    last_ = priority;
    returned_.store(0, sync::relaxed);  // relaxed: the crew's meeting publishes it.
  }

  /// All threads set random values for a while, as fast as they can or with pauses.
  void set_any(Random& random) {
    begin(TaskPriority::background);
    const auto subscription =
        controller_->signal().on_priority_change([this](const PriorityChangeEvent& event) {
          note(event);
          be_busy_for(listener_takes);
        });
    const std::uint64_t seed = random();
    const auto pause = std::chrono::microseconds(random.one_in(2) ? 0 : random.below(500));
    crew_.run([this, seed, pause](std::size_t member) {
      Random own(seed + member);
      Caller caller;
      for (const auto end = Clock::now() + round_takes; Clock::now() < end;) {
        call(caller, priorities[own.below(3)]);
        if (pause != 0us) be_busy_for(pause);
      }
      seen_[member] = caller;
    });
    for (const Caller& caller : seen_) {
      calls_ += caller.calls;
      most_events_ = std::max(most_events_, caller.most_events);
      longest_ = std::max(longest_, caller.longest);
    }
  }

  void call(Caller& caller, TaskPriority priority) {
    const std::uint64_t before = returned_.load(sync::relaxed);  // relaxed, both: a count.
    events_here = 0;
    const auto start = Clock::now();
    controller_->set_priority(priority);
    const auto time = Clock::now() - start;
    const std::uint64_t others = returned_.fetch_add(1, sync::relaxed) - before;
    check(events_here <= 1 + others + (callers - 1), "a call delivered more than came meanwhile");
    check(events_here <= events_bound, "a call went on delivering");
    ++caller.calls;
    caller.most_events = std::max(caller.most_events, events_here);
    caller.longest = std::max(caller.longest, time);
  }

  /// Each thread sets the priority of its number once, and says so before. A caller tells all loops
  /// with tasks of the signal after its change, and before it delivers or leaves. The more loops
  /// there are, the more often other callers come in between.
  void set_each_its_own(Random& random) {
    begin(priorities[random.below(3)]);
    for (const EventLoop& loop : loops_) {
      check(loop.scheduler().post([] {}, {.signal = controller_->signal()}),
            "an open loop refused a task");
    }
    const auto initial = static_cast<std::size_t>(last_);
    std::array<bool, callers> said{};
    said[initial] = true;
    const auto subscription =
        controller_->signal().on_priority_change([&](const PriorityChangeEvent& event) {
          note(event);
          const auto value = static_cast<std::size_t>(event.current);
          check(value == initial || said[value], "a listener does not see what came before a call");
        });
    const std::uint64_t seed = random();
    crew_.run([&](std::size_t member) {
      Random own(seed + member);
      dither(own);
      if (member != initial) said[member] = true;
      controller_->set_priority(static_cast<TaskPriority>(member));
    });
    for (EventLoop& loop : loops_) loop.run_until_idle();
    calls_ += callers;
  }

  void note(const PriorityChangeEvent& event) {
    check(event.previous == last_, "an event does not begin where the one before it ended");
    check(event.current != last_, "an event for the same value");
    last_ = event.current;
    ++events_;
    ++events_here;
  }

  static inline thread_local std::uint64_t events_here = 0;

  std::array<EventLoop, loop_count> loops_;  ///< nobody drives them during a round
  std::optional<TaskController> controller_;
  TaskPriority last_{};       ///< belongs to the listener
  std::uint64_t events_ = 0;  ///< belongs to the listener
  sync::atomic<std::uint64_t> returned_{0};
  std::array<Caller, callers> seen_;
  std::uint64_t calls_ = 0;
  std::uint64_t most_events_ = 0;
  Clock::duration longest_{};
  Crew crew_{callers};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("slow_listener_stress", {argv, static_cast<std::size_t>(argc)});
  SlowListener stress;
  static_cast<void>(run_rounds(options, [&stress](Random& random) { stress.round(random); }));
  stress.print();
  check(stress.events() > 0, "nothing was ever delivered");
}
