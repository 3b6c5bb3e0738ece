// Several threads call set_priority at once, on one signal with tasks on two agents.
//
// I1  No call throws, and the last one wins: the final priority is that of the last event (PRI-6).
// I2  The events come one at a time, in the order of the values: the old value of each is the new
//     value of the one before.
// I3  A call that has returned counts for every later pick (PRI-3), even if it changed nothing
//     because another thread had just set the same value. The thread that returns first lets the
//     agents pick, and their next pick has to obey.
// I4  The tasks of a changed signal keep their age (PRI-4).
// In some rounds the agents pick all the time instead, so that messages to them are sent, taken and
// sent again.
#include <array>
#include <heist/heist.hpp>
#include <optional>
#include <vector>

#include "support/crew.hpp"
#include "support/fence.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;

constexpr std::size_t setters = 3;
constexpr std::uint64_t tasks_each = 3;
constexpr auto lowest = TaskPriority::background;
constexpr auto middle = TaskPriority::user_visible;
constexpr auto highest = TaskPriority::user_blocking;

struct Event {
  TaskPriority previous;
  TaskPriority current;
};

class SetPriorityConcurrent {
 public:
  /// Each agent waits in a task, behind which stand tasks of a fixed priority and tasks of the
  /// signal.
  void round(Random& random) {
    controller_.emplace(lowest);
    events_.clear();
    const auto subscription =
        controller_->signal().on_priority_change([this](const PriorityChangeEvent& event) {
          events_.push_back({event.previous, event.current});
        });
    const bool held = !random.one_in(4);
    released_.store(!held, sync::relaxed);  // relaxed: the posts publish it.
    for (std::size_t agent = 0; agent < 2; ++agent) hold(agent);
    const bool same_value = held && random.one_in(2);
    const std::uint64_t seed = random();
    crew_.run([this, same_value, seed](std::size_t member) {
      Random own(seed + member);
      same_value ? set_same(own) : set_any(own);
    });
    const bool was_released = released_.exchange(true, sync::edge("stress:release", sync::acq_rel));
    check(was_released == (same_value || !held), "the agents were let go at the wrong moment");
    for (std::size_t agent = 0; agent < 2; ++agent) {
      fence(agents_[agent].scheduler());
      if (held) check_order_of(agent);
    }
    check_events();
  }

  [[nodiscard]] std::uint64_t events() const { return event_count_; }
  [[nodiscard]] std::uint64_t calls() const {
    return calls_.load(sync::relaxed);
  }  // relaxed: a count.

 private:
  /// When this returns, the agent waits in a task, and the tasks behind that are in its queues.
  void hold(std::size_t agent) {
    const Scheduler scheduler = agents_[agent].scheduler();
    ran_[agent].clear();
    posted_.store(false, sync::relaxed);   // relaxed: the post publishes it.
    holding_.store(false, sync::relaxed);  // relaxed: as above.
    post(scheduler, {.priority = highest}, [this, scheduler] {
      // relaxed, both: they only say how far the other thread is.
      await([this] { return posted_.load(sync::relaxed); }, "nothing was posted");
      post(scheduler, {.priority = lowest}, [] {});  // a local post takes the inbox
      holding_.store(true, sync::relaxed);
      await([this] { return released_.load(sync::edge("stress:released", sync::acquire)); },
            "the agents were never let go");
    });
    for (std::uint64_t i = 0; i < tasks_each; ++i) {
      post(scheduler, {.priority = middle},
           [this, agent, i] { ran_[agent].push_back({false, i}); });
      post(scheduler, {.signal = controller_->signal()},
           [this, agent, i] { ran_[agent].push_back({true, i}); });
    }
    posted_.store(true, sync::relaxed);  // relaxed: see above.
    // relaxed: see above.
    await([this] { return holding_.load(sync::relaxed); }, "an agent did not start");
  }
  template <class Callback>
  static void post(const Scheduler& scheduler, const PostTaskOptions& options, Callback callback) {
    check(scheduler.post(std::move(callback), options), "an open agent refused a task");
  }

  void set(TaskPriority value) {
    try {
      controller_->set_priority(value);
    } catch (...) {
      check(false, "set_priority threw");
    }
  }

  /// All threads set the same value. The first call that returns lets the agents go on.
  void set_same(Random& random) {
    if (random.one_in(4)) dither(random);
    set(highest);
    released_.store(true, sync::edge("stress:release", sync::release));
    calls_.fetch_add(1, sync::relaxed);  // relaxed: a count.
  }
  void set_any(Random& random) {
    const auto calls = 1 + random.below(8);
    for (std::uint64_t i = 0; i < calls; ++i) {
      set(priorities[random.below(3)]);
      dither(random);
    }
    calls_.fetch_add(calls, sync::relaxed);  // relaxed: a count.
  }

  void check_order_of(std::size_t agent) {
    const TaskPriority final = controller_->signal().priority();
    const auto& ran = ran_[agent];
    check(ran.size() == 2 * tasks_each, "a task was lost");
    for (std::size_t i = 0; i < ran.size(); ++i) {
      const bool dynamic_first = final > middle;
      const bool merged = final == middle;
      if (merged) {
        check(ran[i].is_dynamic == (i % 2 == 1) && ran[i].number == i / 2,
              "tasks were not merged by age");
      } else {
        check(ran[i].is_dynamic == (i < tasks_each ? dynamic_first : !dynamic_first),
              "a pick after set_priority() did not use the new priority");
        check(ran[i].number == i % tasks_each, "tasks of one queue ran out of order");
      }
    }
  }

  void check_events() {
    TaskPriority current = lowest;
    for (const Event& event : events_) {
      check(event.previous == current, "an event does not begin where the one before it ended");
      check(event.current != event.previous, "an event for the same value");
      current = event.current;
    }
    check(current == controller_->signal().priority(), "the last event is not the last value");
    event_count_ += events_.size();
  }

  struct Ran {
    bool is_dynamic;
    std::uint64_t number;
  };

  std::optional<TaskController> controller_;
  std::vector<Event> events_;  ///< written by one delivering thread after another
  std::array<std::vector<Ran>, 2> ran_;
  sync::atomic<bool> released_{false};
  sync::atomic<bool> posted_{false};
  sync::atomic<bool> holding_{false};
  sync::atomic<std::uint64_t> calls_{0};
  std::uint64_t event_count_ = 0;
  Agent agents_[2];
  Crew crew_{setters};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options =
      parse("set_priority_concurrent_stress", {argv, static_cast<std::size_t>(argc)});
  SetPriorityConcurrent stress;
  const auto rounds = run_rounds(options, [&stress](Random& random) { stress.round(random); });
  std::printf("rounds %llu, calls %llu, events %llu\n", printable(rounds),
              printable(stress.calls()), printable(stress.events()));
  check(stress.events() > 0, "nothing was ever delivered");
}
