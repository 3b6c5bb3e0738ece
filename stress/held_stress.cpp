// Tasks that agents of a cluster hold back because their scheduler is suspended. One thread resumes
// and suspends the scheduler, and another one aborts its tasks.
//
// I1  Each task runs once, or its promise rejects because of its abort or the close. Its callback
//     is destroyed once (ABT-2, SUS-1).
// I2  Once the scheduler is resumed for good, every task that was not aborted runs, or is dropped
//     by a close.
// I3  However many tasks have come and gone, memory is flat.
#include <algorithm>
#include <array>
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
using namespace heist::stress;

struct Posted {
  Cell cell;
  std::optional<Promise<void>> result;
};
using Batch = std::array<Posted, 64>;

class HeldStress {
 public:
  void round(Random& random) {
    cluster_.emplace(AgentClusterOptions{.agents = 2});
    controllers_ = std::make_unique<Controllers>();
    batch_ = std::make_unique<Batch>();
    cluster_->scheduler().suspend();
    post_all(random);
    const std::uint64_t seed = random();
    crew_.run([&](std::size_t member) {
      Random own(seed + member);
      member == 0 ? resume_and_suspend(own) : abort_some(own);
    });
    cluster_->scheduler().resume();
    const bool waits = random.one_in(2);
    if (waits) await_all();
    cluster_.reset();
    for (const Posted& posted : *batch_) judge(posted, waits);
    batch_.reset();
    memory_.look();
  }

  std::uint64_t ran = 0;
  std::uint64_t rejected = 0;

 private:
  using Controllers = std::array<TaskController, 12>;

  void post_all(Random& random) {
    for (Posted& posted : *batch_) {
      PostTaskOptions options;
      const auto kind = random.below(controllers_->size() + 1);
      if (kind < controllers_->size()) options.signal = (*controllers_)[kind].signal();
      if (random.one_in(2)) options.priority = priorities[random.below(3)];
      posted.result = cluster_->scheduler().post_task(witnessed(posted.cell, [] {}), options);
    }
  }
  void resume_and_suspend(Random& random) {
    for (auto turns = random.below(12); turns > 0; --turns) {
      dither(random);
      cluster_->scheduler().resume();
      dither(random);
      cluster_->scheduler().suspend();
    }
  }
  void abort_some(Random& random) {
    for (auto& controller : *controllers_) {
      dither(random);
      if (random.one_in(2)) controller.abort();
    }
  }
  void await_all() {
    for (const Posted& posted : *batch_) {
      await([&] { return posted.result->settled(); }, "I2: a task waits for ever");
    }
  }
  /// `waited`: whether all promises had settled before the close, so that it dropped no task.
  void judge(const Posted& posted, bool waited) {
    const auto status = posted.result->status();
    check(status != PromiseStatus::pending, "I1: a task never settled");
    check(posted.cell.runs <= 1, "I1: a task ran twice");
    check(posted.cell.destroyed == 1, "I1: a callback was not destroyed exactly once");
    check(posted.cell.runs == 1 || status == PromiseStatus::rejected, "I1: settled without a run");
    ran += posted.cell.runs;
    if (posted.cell.runs == 0) ++rejected;
    check(!waited || posted.cell.runs == 1 || was_aborted(posted), "I2: a task was lost");
  }
  [[nodiscard]] bool was_aborted(const Posted& posted) const {
    const auto reason = posted.result->reason();
    return std::ranges::any_of(*controllers_, [&](const TaskController& controller) {
      return controller.signal().aborted() && controller.signal().reason() == reason;
    });
  }

  std::unique_ptr<Controllers> controllers_;
  std::optional<AgentCluster> cluster_;
  std::unique_ptr<Batch> batch_;
  FlatMemory memory_;
  Crew crew_{2};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("held_stress", {argv, static_cast<std::size_t>(argc)});
  HeldStress stress;
  const auto rounds = run_rounds(options, [&stress](Random& random) { stress.round(random); });
  std::printf("rounds %llu, ran %llu, rejected %llu\n", printable(rounds), printable(stress.ran),
              printable(stress.rejected));
  check(stress.ran > 0 && stress.rejected > 0, "one outcome of the race was never seen");
}
