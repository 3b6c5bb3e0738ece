// Coroutines yield on two agents, inheriting their state or with options. Meanwhile other threads
// abort their signals, change the priorities, schedule continuations of their own, and in some
// rounds close an agent.
//
// I1  Each coroutine ends once: it returns, it throws what a yield threw, or the close of its agent
//     destroys its frame. Its promise says the same, and the frame is destroyed once (LIF-1,
//     YLD-3).
// I2  Once an abort() has returned, no continuation with that signal goes on as if nothing had
//     happened, through however many turns the signal was inherited (ABT-2, YLD-3).
// I3  A yield throws the reason of its signal, or that of the close.
// I4  A continuation that another thread schedules settles.
// I5  However many coroutines have come and gone, memory is flat.
#include <array>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "support/cell.hpp"
#include "support/crew.hpp"
#include "support/facts.hpp"
#include "support/fence.hpp"
#include "support/flat_memory.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;

constexpr std::size_t signal_count = 3;
constexpr std::size_t job_count = 8;
constexpr ContinuationPriority continuation_priorities[] = {
    ContinuationPriority::background, ContinuationPriority::user_visible,
    ContinuationPriority::user_blocking, ContinuationPriority::inherit};

struct Counts {
  std::uint64_t turns = 0;
  std::uint64_t returned = 0;
  std::uint64_t threw = 0;
  std::uint64_t destroyed = 0;
  std::uint64_t never_started = 0;
};

/// One coroutine. The data belongs to the agent on which it runs.
struct Job {
  std::size_t agent = 0;
  std::size_t signal = 0;  ///< its task's
  std::uint64_t turns = 0;
  std::uint64_t left = 0;
  Cell frame;
  bool returned = false;
  bool threw = false;
  std::optional<Promise<void>> own;  ///< the coroutine's
  std::optional<Promise<void>> task;
};

/// Where a coroutine yields, and with what.
struct Plan {
  Scheduler scheduler;
  YieldOptions options;
  std::optional<std::size_t> aborted_by;  ///< the number of a signal
  bool as_promise = false;
};

class YieldStress {
 public:
  YieldStress() {
    for (auto& agent : agents_) agent.emplace();
  }

  void round(Random& random) {
    for (auto& controller : controllers_) controller.emplace(priorities[random.below(3)]);
    for (std::size_t i = 0; i < 2; ++i) schedulers_[i] = agents_[i]->scheduler();
    crosses_ = random.one_in(2);
    const std::optional<std::size_t> closed =
        random.one_in(8) ? std::optional(random.below(2)) : std::nullopt;
    for (auto& job : jobs_) job = std::make_unique<Job>();
    const std::uint64_t seed = random();
    crew_.run([&](std::size_t member) {
      Random own(seed + member);
      if (member == 0) {
        start_jobs(own);
        return schedule_turns(own);
      }
      if (member == 1) return change_priorities(own);
      abort_some(own);
      if (closed) close(*closed, own);
    });
    // relaxed: a number; the fences order what was done.
    await([this] { return alive_.load(sync::relaxed) == 0; }, "I1: a coroutine never ended");
    wait_for_agents(closed);
    for (auto& job : jobs_) judge(*job, closed);
    clear(closed);
    memory_.look();
  }

  [[nodiscard]] Counts counts() const { return counts_; }

  /// Tells, by the count, whether its holder has gone.
  class Alive {
   public:
    explicit Alive(sync::atomic<int>& count) : count_(&count) {
      count_->fetch_add(1, sync::relaxed);  // relaxed: a number.
    }
    Alive(Alive&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
    Alive& operator=(Alive&&) = delete;
    ~Alive() {
      if (count_ != nullptr) count_->fetch_sub(1, sync::relaxed);  // relaxed: as above.
    }

   private:
    sync::atomic<int>* count_;
  };

  /// The first part of a turn's end. The aborts that are known now count for the next pick.
  Plan plan(const Job& job, Random& random) {
    const std::size_t to = crosses_ ? random.below(2) : job.agent;
    Plan plan{*schedulers_[to], {}, job.signal, random.one_in(4)};
    if (random.one_in(2)) choose_options(plan, random);
    known_before_[job.agent] = aborted_.known();
    return plan;
  }
  void check_turn(const Job& job, const Plan& plan) const {
    if (crosses_ || !plan.aborted_by) return;
    check(((known_before_[job.agent] >> *plan.aborted_by) & 1U) == 0,
          "I2: a continuation went on after its abort had returned");
  }
  void check_thrown(const Job& job) const {
    try {
      throw;
    } catch (const Aborted& aborted) {
      check(aborted.reason().value<int>() != nullptr, "I3: another reason");
    } catch (const AbortError&) {
    } catch (const InvalidStateError&) {
    } catch (...) {
      check(false, "I3: a yield threw something else");
    }
    check(!job.returned, "I1: thrown after its return");
  }

 private:
  void choose_options(Plan& plan, Random& random) {
    const auto priority = continuation_priorities[random.below(4)];
    switch (random.below(3)) {
      case 0:
        plan.aborted_by.reset();
        plan.options = YieldOptions(priority);
        return;
      case 1:
        plan.options = YieldOptions(heist::inherit, priority);
        return;
      default:
        plan.aborted_by = random.below(signal_count);
        plan.options = YieldOptions(controllers_[*plan.aborted_by]->signal());
    }
  }

  void start_jobs(Random& random) {
    for (auto& slot : jobs_) {
      Job& job = *slot;
      job.agent = random.below(2);
      job.signal = random.below(signal_count);
      job.left = random.below(40);
      start(job, random());
    }
  }
  void start(Job& job, std::uint64_t seed);

  /// Schedules continuations that no coroutine awaits. Some of their promises are kept.
  void schedule_turns(Random& random) {
    for (auto turns = random.below(8); turns > 0; --turns) {
      const YieldOptions options(controllers_[random.below(signal_count)]->signal(),
                                 continuation_priorities[random.below(3)]);
      Promise<void> turn = schedulers_[random.below(2)]->yield(options);
      if (random.one_in(2)) foreign_turns_.push_back(std::move(turn));
      dither(random);
    }
  }
  void change_priorities(Random& random) {
    for (auto changes = random.below(8); changes > 0; --changes) {
      controllers_[random.below(signal_count)]->set_priority(priorities[random.below(3)]);
      dither(random);
    }
  }
  void abort_some(Random& random) {
    for (std::size_t signal = 0; signal < signal_count; ++signal) {
      if (random.one_in(2)) continue;
      for (auto pauses = random.below(12); pauses > 0; --pauses) dither(random);
      controllers_[signal]->abort(static_cast<int>(signal));
      aborted_.tell(signal);
    }
  }
  void close(std::size_t agent, Random& random) {
    agents_[agent]->close(random.one_in(2) ? CloseMode::abort() : CloseMode::drain());
  }

  void wait_for_agents(std::optional<std::size_t> closed) {
    for (std::size_t i = 0; i < 2; ++i) {
      if (closed != i) fence(*schedulers_[i]);
    }
    for (const auto& turn : foreign_turns_) {
      check(turn.status() != PromiseStatus::pending, "I4: a continuation never settled");
    }
    foreign_turns_.clear();
  }

  void judge(const Job& job, std::optional<std::size_t> closed) {
    check(job.task->status() != PromiseStatus::pending, "I1: a task never settled");
    check(job.frame.destroyed == 1, "I1: not destroyed exactly once");
    counts_.turns += job.turns;
    if (!job.own) {
      check(job.frame.runs == 0, "I1: it has run, and has no promise");
      ++counts_.never_started;
      return;
    }
    check(job.frame.runs == 1, "I1: it ran not once");
    const auto expected = job.returned ? PromiseStatus::fulfilled : PromiseStatus::rejected;
    check(job.own->status() == expected, "I1: its promise says something else");
    check(!(job.returned && job.threw), "I1: it ended twice");
    check(job.returned || job.threw || job.agent == closed, "I1: a frame was lost");
    ++(job.returned ? counts_.returned : job.threw ? counts_.threw : counts_.destroyed);
  }

  void clear(std::optional<std::size_t> closed) {
    if (closed) agents_[*closed].emplace();
    for (auto& job : jobs_) job.reset();
    for (auto& controller : controllers_) controller.reset();
    aborted_.forget();
    known_before_ = {};
  }

  std::array<std::optional<TaskController>, signal_count> controllers_;
  std::array<std::optional<Agent>, 2> agents_;
  std::array<std::optional<Scheduler>, 2> schedulers_;
  std::array<std::unique_ptr<Job>, job_count> jobs_;
  std::vector<Promise<void>> foreign_turns_;
  sync::atomic<int> alive_{0};
  bool crosses_ = false;  ///< in this round coroutines yield on the other agent, too
  Facts<signal_count> aborted_;
  std::array<Facts<signal_count>::Mask, 2> known_before_{};  ///< of each agent, at a turn's end
  Counts counts_;
  FlatMemory memory_;
  Crew crew_{3};
};

Promise<void> turns_of(YieldStress& stress, Job& job, Random random, Witness witness,
                       YieldStress::Alive /*alive*/) {
  ++witness.cell().runs;
  try {
    for (; job.left > 0; --job.left) {
      Plan plan = stress.plan(job, random);
      if (plan.as_promise) {
        Promise<void> turn = plan.scheduler.yield(plan.options);
        co_await turn;
      } else {
        co_await plan.scheduler.yield(plan.options);
      }
      ++job.turns;
      stress.check_turn(job, plan);
    }
    job.returned = true;
  } catch (...) {
    stress.check_thrown(job);
    job.threw = true;
    throw;
  }
}

void YieldStress::start(Job& job, std::uint64_t seed) {
  job.task = schedulers_[job.agent]->post_task(
      [this, &job, own = Random(seed), witness = Witness(job.frame),
       alive = Alive(alive_)]() mutable {
        job.own = turns_of(*this, job, own, std::move(witness), std::move(alive));
        return *job.own;
      },
      {.signal = controllers_[job.signal]->signal()});
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("yield_stress", {argv, static_cast<std::size_t>(argc)});
  set_error_hook([](ErrorOrigin, const Reason&) noexcept {});  // nobody waits for some turns
  YieldStress stress;
  const auto rounds = run_rounds(options, [&stress](Random& random) { stress.round(random); });
  const Counts counts = stress.counts();
  std::printf(
      "rounds %llu, turns %llu; returned %llu, threw %llu, destroyed %llu, never started %llu\n",
      printable(rounds), printable(counts.turns), printable(counts.returned),
      printable(counts.threw), printable(counts.destroyed), printable(counts.never_started));
  check(counts.returned > 0 && counts.threw > 0, "one outcome of the race was never seen");
}
