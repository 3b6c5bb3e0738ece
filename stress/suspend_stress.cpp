// One thread suspends and resumes a scheduler, while another one posts tasks of every kind and a
// third one aborts and changes priorities. In some rounds the agent is closed while tasks are held
// back.
//
// I1  Between the return of suspend() and the call of resume() no task of the scheduler starts,
//     while tasks of other sources do (SUS-1).
// I2  Each task runs once, or its promise rejects because of its abort or the close. Nothing else
//     happens to it, and its callback is destroyed once. Tasks that are held back are no exception
//     (ABT-2, LIF-1).
// I3  Tasks of one thread and one level start in the order of their posts, held back or not
//     (ORD-2).
// I4  A delay is never shorter than asked for, however often it stops (DLY-1).
// I5  However many tasks have come and gone, memory is flat.
#include <array>
#include <chrono>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "support/cell.hpp"
#include "support/crew.hpp"
#include "support/fence.hpp"
#include "support/flat_memory.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;
using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr microseconds tick(20);

struct Counts {
  std::uint64_t ran = 0;
  std::uint64_t rejected = 0;
  std::uint64_t held_looks = 0;  ///< tasks that started while the scheduler was suspended
};

struct Posted {
  Cell cell;
  std::optional<Promise<void>> result;
};
using Batch = std::array<Posted, 16>;

class SuspendStress {
 public:
  void round(Random& random) {
    agent_.emplace(quick_agent());
    scheduler_ = agent_->scheduler();
    controller_.emplace(priorities[random.below(3)]);
    batch_ = std::make_unique<Batch>();
    next_ = {};
    const bool closes = random.one_in(2);
    const std::uint64_t seed = random();
    crew_.run([&](std::size_t member) {
      Random own(seed + member);
      if (member == 0) return post_all(own);
      if (member == 1) return suspend_and_resume(own, closes);
      control(own);
    });
    finish(closes, random);
    for (const Posted& posted : *batch_) judge(posted);
    batch_.reset();
    memory_.look();
  }

  [[nodiscard]] Counts counts() const { return counts_; }

 private:
  static AgentOptions quick_agent() {
    AgentOptions options;
    options.loop.tick = tick;
    return options;
  }

  void post_all(Random& random) {
    for (std::size_t i = 0; i < batch_->size(); ++i) {
      const std::uint64_t kind = random.below(4);
      PostTaskOptions options;
      if (kind == 1) options.signal = controller_->signal();
      const microseconds delay = tick * (kind == 2 ? static_cast<int>(random.below(4)) : 0);
      options.delay = delay;
      if (kind == 3) options.signal = AbortSignal(controller_->signal());
      const auto level = random.below(3);
      if (kind != 1) options.priority = priorities[level];
      const auto earliest = Clock::now() + delay;
      const bool is_ordered = kind == 0 || kind == 3;
      (*batch_)[i].result = scheduler_->post_task(witnessed((*batch_)[i].cell,
                                                            [this, i, level, is_ordered, earliest] {
                                                              check_start();
                                                              if (is_ordered) check_order(level, i);
                                                              check(Clock::now() >= earliest,
                                                                    "I4: a delay was too short");
                                                            }),
                                                  options);
      dither(random);
    }
  }

  /// Called on the agent, at the start of a task of the scheduler.
  void check_start() {
    const auto before =
        std::exchange(seen_, suspension_.load(sync::edge("stress:told", sync::acquire)));
    check(!is_suspended(before) || before != seen_, "I1: a task of a suspended scheduler started");
  }
  /// Called on the agent, in a task that no suspension holds back.
  void look() {
    seen_ = suspension_.load(sync::edge("stress:told", sync::acquire));
    if (is_suspended(seen_)) ++looks_;
  }
  void check_order(std::uint64_t level, std::size_t number) {
    check(number >= next_[level], "I3: a younger task of the same level started first");
    next_[level] = number + 1;
  }

  void suspend_and_resume(Random& random, bool stays_suspended) {
    for (auto turns = 1 + random.below(4); turns > 0; --turns) {
      scheduler_->suspend();
      announce();
      beside(random);
      if (turns == 1 && stays_suspended) return;
      announce();
      scheduler_->resume();
      dither(random);
    }
  }
  /// Counts on. The count is odd from a return of suspend() to the next call of resume().
  void announce() { suspension_.fetch_add(1, sync::edge("stress:tell", sync::release)); }
  static bool is_suspended(std::uint32_t announced) { return announced % 2 == 1; }

  /// Does something while the scheduler is suspended: tasks of other sources have to run then.
  void beside(Random& random) {
    if (random.one_in(2)) return dither(random);
    sync::atomic<bool> ran{false};
    agent_->queue_task(TaskSource::message, [this, &ran] {
      look();
      ran.store(true, sync::edge("stress:release", sync::release));
    });
    await([&ran] { return ran.load(sync::edge("stress:released", sync::acquire)); },
          "I1: a task of another source was held back");
  }

  void control(Random& random) {
    for (auto changes = random.below(6); changes > 0; --changes) {
      controller_->set_priority(priorities[random.below(3)]);
      dither(random);
    }
    if (random.one_in(2)) controller_->abort();
  }

  /// Ends the agent. If it closes, that happens with the tasks that are held back, otherwise after
  /// they have run.
  void finish(bool closes, Random& random) {
    if (!closes) {
      scheduler_->post_task([] {}, {.priority = TaskPriority::background, .delay = 6 * tick}).get();
      fence(*scheduler_);
    }
    if (random.one_in(2)) agent_->close(random.one_in(2) ? CloseMode::abort() : CloseMode::drain());
    agent_.reset();
    counts_.held_looks += std::exchange(looks_, 0);
    // relaxed: a quiet point.
    if (is_suspended(suspension_.load(sync::relaxed))) announce();
    seen_ = 0;
  }

  void judge(const Posted& posted) {
    const auto status = posted.result->status();
    check(status != PromiseStatus::pending, "I2: a task never settled");
    check(posted.cell.runs <= 1, "I2: a task ran twice");
    check(posted.cell.destroyed == 1, "I2: a callback was not destroyed exactly once");
    check(posted.cell.runs == 1 || status == PromiseStatus::rejected, "I2: settled without a run");
    counts_.ran += posted.cell.runs;
    if (posted.cell.runs == 0) ++counts_.rejected;
  }

  std::optional<TaskController> controller_;
  std::optional<Agent> agent_;
  std::optional<Scheduler> scheduler_;
  std::unique_ptr<Batch> batch_;
  sync::atomic<std::uint32_t> suspension_{0};
  std::uint32_t seen_ = 0;             ///< the agent's: the count when its last task ran
  std::uint64_t looks_ = 0;            ///< the agent's
  std::array<std::size_t, 3> next_{};  ///< the agent's: the next number of each level
  Counts counts_;
  FlatMemory memory_;
  Crew crew_{3};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("suspend_stress", {argv, static_cast<std::size_t>(argc)});
  SuspendStress stress;
  const auto rounds = run_rounds(options, [&stress](Random& random) { stress.round(random); });
  const Counts counts = stress.counts();
  std::printf("rounds %llu, ran %llu, rejected %llu, seen beside a suspension %llu\n",
              printable(rounds), printable(counts.ran), printable(counts.rejected),
              printable(counts.held_looks));
  check(counts.ran > 0 && counts.rejected > 0, "one outcome of the race was never seen");
  check(counts.held_looks > 0, "nothing was ever suspended");
}
