// Abort against start: two threads abort a signal while two agents start its tasks.
//
// I1  Each task has exactly one of three fates. It ran, and its promise has its result. It ran and
//     was aborted meanwhile, and its promise has the reason. It never ran, and its promise has the
//     reason (ABT-1).
// I2  No task starts in a pick that began after a call of abort() had returned (ABT-2).
// I3  When the winning abort() returns, the promise of each task that had been posted and never
//     starts is rejected with the winner's reason (ABT-2).
// I4  Each callback is destroyed once, and on its agent if the task was posted before the abort
//     (ABT-4).
// I5  An agent counts as run only the tasks whose callbacks were called, and no start that met the
//     abort.
#include <algorithm>
#include <array>
#include <heist/heist.hpp>
#include <optional>
#include <vector>

#include "support/crew.hpp"
#include "support/fence.hpp"
#include "support/stress_run.hpp"
#include "support/timeline.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;

constexpr std::size_t tasks = 4;
constexpr std::size_t aborters = 2;

struct Fate {
  sync::atomic<bool> started{false};
  std::size_t agent = 0;
  Moment posted = never;  ///< when its post had returned
  const Agent* destroyed_on = nullptr;
  std::uint32_t destroyed = 0;
};

/// Notes in a task's fate where the callback was destroyed.
class Marker {
 public:
  explicit Marker(Fate& fate) : fate_(&fate) {}
  Marker(Marker&& other) noexcept : fate_(std::exchange(other.fate_, nullptr)) {}
  Marker& operator=(Marker&&) = delete;
  ~Marker() {
    if (fate_ == nullptr) return;
    ++fate_->destroyed;
    fate_->destroyed_on = Agent::current();
  }

 private:
  Fate* fate_;
};

struct Counts {
  std::uint64_t ran = 0;
  std::uint64_t aborted_running = 0;
  std::uint64_t never_ran = 0;
};

Promise<int> slow_answer(int value) {
  const auto settled = Promise<void>::resolved();
  co_await settled;
  co_return value;
}

class AbortStart {
 public:
  void round(Random& random) {
    controller_.emplace(priorities[random.below(3)]);
    for (Fate& fate : fates_)
      fate.started.store(false, sync::relaxed);  // relaxed: before the start.
    for (std::size_t i = 0; i < tasks; ++i) {
      fates_[i].agent = random.below(2);
      fates_[i].posted = never;
      fates_[i].destroyed = 0;
    }
    promises_.fill(std::nullopt);
    posted_.store(0, sync::relaxed);  // relaxed: before the start.
    abort_called_.fill(never);
    abort_returned_.store(never, sync::relaxed);  // relaxed: before the start.
    const std::uint64_t seed = random();
    crew_.run([this, seed](std::size_t member) {
      Random own(seed + member);
      member == 0 ? post_all(own) : abort(member, own);
    });
    settle_and_check();
  }

  [[nodiscard]] Counts counts() const { return counts_; }

 private:
  void post_all(Random& random) {
    for (std::size_t i = 0; i < tasks; ++i) {
      if (random.one_in(3)) post_filler(random);
      post_task(i, random);
      fates_[i].posted = time_.mark();
      posted_.store(i + 1, sync::edge("stress:posted", sync::release));
      dither(random);
    }
  }

  void post_filler(Random& random) {
    const std::size_t agent = random.below(2);
    check(agents_[agent].scheduler().post([this, agent] { ended(agent); },
                                          {.priority = TaskPriority::user_blocking}),
          "an open agent refused a task");
  }

  void post_task(std::size_t i, Random& random) {
    const Scheduler scheduler = agents_[fates_[i].agent].scheduler();
    PostTaskOptions options{.signal = controller_->signal()};
    if (random.one_in(4)) options.priority = TaskPriority::user_visible;
    if (random.one_in(4)) options.delay = std::chrono::microseconds(random.below(150));
    const auto kind = random.below(4);
    Random own(random());
    auto body = [this, i, own, marker = Marker(fates_[i])]() mutable { run(i, own); };
    if (kind == 0) {
      promises_[i] = scheduler.post_task(
          [body = std::move(body), i]() mutable {
            body();
            return slow_answer(static_cast<int>(i));
          },
          options);
    } else {
      promises_[i] = scheduler.post_task(
          [body = std::move(body), i]() mutable {
            body();
            return static_cast<int>(i);
          },
          options);
    }
  }

  /// Called on the agent: the body of a task.
  void run(std::size_t i, Random& random) {
    Fate& fate = fates_[i];
    check(Agent::current() == &agents_[fate.agent], "a task ran on the wrong agent");
    // relaxed: only a flag. For I3 the runtime itself orders it before the end of the task.
    check(!fate.started.exchange(true, sync::relaxed), "a task started twice");
    // The pick that chose this task began after the previous task had ended.
    const Moment aborted = abort_returned_.load(sync::edge("stress:returned", sync::acquire));
    check(aborted == never || last_end_[fate.agent] < aborted,
          "a task started in a pick that began after abort() had returned");
    dither(random);
    ended(fate.agent);
  }
  void ended(std::size_t agent) {
    last_end_[agent] = time_.mark();
    ++called_[agent];
  }

  void abort(std::size_t member, Random& random) {
    // relaxed: chooses a moment only.
    await(
        [this, target = random.below(tasks + 1)] { return posted_.load(sync::relaxed) >= target; },
        "the poster did not come along");
    for (auto steps = random.below(6); steps > 0; --steps) dither(random);
    abort_called_[member - 1] = time_.mark();
    controller_->abort(static_cast<int>(member));
    const Moment returned = time_.mark();
    Moment first = never;
    // For I2 the call that returns first counts.
    abort_returned_.compare_exchange_strong(
        first, returned, sync::edge("stress:returned", sync::acq_rel), sync::relaxed);  // relaxed:
    // a failure tells nothing.
    const Reason reason = controller_->signal().reason();
    if (*reason.value<int>() == static_cast<int>(member)) check_rejected(reason);
  }

  /// Called by the winner, as soon as its abort() has returned.
  void check_rejected(const Reason& reason) {
    const std::size_t posted = posted_.load(sync::edge("stress:posted", sync::acquire));
    for (std::size_t i = 0; i < posted; ++i) {
      const Promise<int>& promise = *promises_[i];
      // relaxed: see run().
      if (promise.status() == PromiseStatus::pending) {
        check(fates_[i].started.load(sync::relaxed), "abort() left the promise of a task pending");
      } else if (promise.status() == PromiseStatus::rejected) {
        check(promise.reason() == reason, "a promise was rejected with another reason");
      }
    }
  }

  void settle_and_check() {
    for (std::size_t i = 0; i < tasks; ++i) {
      check(promises_[i]->wait_for(std::chrono::seconds(60)), "a promise never settled");
    }
    check_counts();
    const Reason reason = controller_->signal().reason();
    const Moment called = std::min(abort_called_[0], abort_called_[1]);
    for (std::size_t i = 0; i < tasks; ++i) {
      const Fate& fate = fates_[i];
      const bool started = fate.started.load(sync::relaxed);  // relaxed: a quiet point.
      if (promises_[i]->status() == PromiseStatus::fulfilled) {
        check(started && promises_[i]->get() == static_cast<int>(i), "a result came from nowhere");
        ++counts_.ran;
      } else {
        check(promises_[i]->reason() == reason, "a promise was rejected with another reason");
        ++(started ? counts_.aborted_running : counts_.never_ran);
      }
      check(fate.destroyed == 1, "a callback was not destroyed exactly once");
      check(fate.posted > called || fate.destroyed_on == &agents_[fate.agent],
            "the callback of a posted task was destroyed off its agent");
    }
  }

  void check_counts() {
    for (std::size_t i = 0; i < 2; ++i) {
      fence_twice(agents_[i].scheduler());
      called_[i] += 2;
      check(agents_[i].stats().tasks_run == called_[i], "a task counts that was not called");
    }
  }

  static AgentOptions quick_agent() {
    AgentOptions options;
    options.loop.tick = std::chrono::microseconds(50);
    return options;
  }

  Timeline time_;
  std::optional<TaskController> controller_;
  std::array<Fate, tasks> fates_;
  std::array<std::optional<Promise<int>>, tasks> promises_;
  sync::atomic<std::size_t> posted_{0};
  std::array<Moment, aborters> abort_called_{};
  sync::atomic<Moment> abort_returned_{never};
  Moment last_end_[2] = {};       ///< each belongs to its agent
  std::uint64_t called_[2] = {};  ///< each belongs to its agent, then to the main thread
  Counts counts_;
  Agent agents_[2] = {Agent(quick_agent()), Agent(quick_agent())};
  Crew crew_{1 + aborters};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("abort_start_stress", {argv, static_cast<std::size_t>(argc)});
  AbortStart stress;
  const auto is_enough = [&stress] {
    const Counts counts = stress.counts();
    return counts.ran > 0 && counts.never_ran > 0;
  };
  const auto rounds =
      run_rounds(options, [&stress](Random& random) { stress.round(random); }, is_enough);
  const Counts counts = stress.counts();
  std::printf("rounds %llu, ran %llu, aborted while running %llu, aborted before start %llu\n",
              printable(rounds), printable(counts.ran), printable(counts.aborted_running),
              printable(counts.never_ran));
  check(options.duration.count() == 0 || is_enough(), "one outcome of the race was never seen");
}
