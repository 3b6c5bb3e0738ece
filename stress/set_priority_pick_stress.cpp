// set_priority against picks: two signals change their priority while two agents pick their tasks
// among others.
//
// I1  A pick that began after set_priority() had returned uses the new level for every task of the
//     signal whose post had returned. That includes changes that tasks make (PRI-3, ORD-3).
// I2  Tasks of one level run by age, whether their level is fixed or has changed (PRI-4, ORD-2).
#include <array>
#include <heist/heist.hpp>
#include <optional>
#include <vector>

#include "support/crew.hpp"
#include "support/fence.hpp"
#include "support/order_log.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;

constexpr std::size_t posters = 2;
constexpr std::size_t tasks_each = 10;

struct Counts {
  std::uint64_t tasks = 0;
  std::uint64_t changes = 0;
  std::uint64_t level_pairs = 0;
  std::uint64_t age_pairs = 0;
};

class SetPriorityPick {
 public:
  void round(Random& random) {
    for (std::size_t i = 0; i < 2; ++i) {
      const TaskPriority initial = priorities[random.below(3)];
      controllers_[i].emplace(initial);
      histories_[i].restart(initial);
      ran_[i].clear();
    }
    posted_.fill({});
    done_.store(0, sync::relaxed);  // relaxed: before the start.
    const std::uint64_t seed = random();
    crew_.run([this, seed](std::size_t member) {
      Random own(seed + member);
      member == 0 ? change(own) : post_all(member - 1, own);
    });
    // relaxed: a number; the fences order what was done.
    await([this] { return done_.load(sync::relaxed) == posted_.size(); }, "a task never ran");
    for (Agent& agent : agents_) fence(agent.scheduler());
    for (const auto& ran : ran_) {
      const OrderVerdict verdict = check_order(ran);
      check(verdict.violation == nullptr, verdict.violation);
      counts_.level_pairs += verdict.level_pairs;
      counts_.age_pairs += verdict.age_pairs;
    }
    counts_.tasks += posted_.size();
  }

  [[nodiscard]] Counts counts() const { return counts_; }

 private:
  /// This thread changes signal 0, and tasks of agent 0 change signal 1, because only one thread
  /// may write the history of a signal.
  void change(Random& random) {
    for (auto changes = 2 + random.below(6); changes > 0; --changes) {
      set_priority(0, random);
      ++counts_.changes;
      dither(random);
    }
  }

  void set_priority(std::size_t signal, Random& random) {
    const TaskPriority value = priorities[random.below(3)];
    const Moment called = time_.mark();
    controllers_[signal]->set_priority(value);
    histories_[signal].add(called, time_.mark(), value);
  }

  void post_all(std::size_t member, Random& random) {
    for (std::size_t i = 0; i < tasks_each; ++i) {
      post_one(posted_[member * tasks_each + i], random);
      if (random.one_in(3)) dither(random);
    }
  }

  void post_one(Posted& posted, Random& random) {
    const std::size_t agent = random.below(2);
    const auto kind = random.below(4);
    PostTaskOptions options;
    if (kind < 2) {
      posted.history = &histories_[kind];
      options.signal = controllers_[kind]->signal();
    } else {
      posted.priority = priorities[random.below(3)];
      options.priority = posted.priority;
      if (kind == 2) options.signal = controllers_[0]->signal();
    }
    auto body = [this, &posted, agent, own = Random(random())]() mutable {
      run(posted, agent, own);
    };
    const Scheduler scheduler = agents_[agent].scheduler();
    posted.called = time_.mark();
    check(scheduler.post(std::move(body), options), "an open agent refused a task");
    posted.done = time_.mark();
  }

  void run(Posted& posted, std::size_t agent, Random& random) {
    posted.pick_after = last_end_[agent];
    posted.started = time_.mark();
    ran_[agent].push_back(&posted);
    if (agent == 0 && random.one_in(8)) set_priority(1, random);
    if (random.one_in(2)) dither(random);
    done_.fetch_add(1, sync::relaxed);  // relaxed: a count.
    last_end_[agent] = time_.mark();
  }

  Timeline time_;
  std::array<std::optional<TaskController>, 2> controllers_;
  std::array<PriorityHistory, 2> histories_;
  std::array<Posted, posters * tasks_each> posted_;
  std::array<std::vector<const Posted*>, 2> ran_;  ///< each belongs to its agent
  std::array<Moment, 2> last_end_{};               ///< each belongs to its agent
  sync::atomic<std::size_t> done_{0};
  Counts counts_;
  Agent agents_[2];
  Crew crew_{1 + posters};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("set_priority_pick_stress", {argv, static_cast<std::size_t>(argc)});
  SetPriorityPick stress;
  const auto rounds = run_rounds(options, [&stress](Random& random) { stress.round(random); });
  const Counts counts = stress.counts();
  std::printf("rounds %llu, tasks %llu, changes %llu, pairs decided by level %llu, by age %llu\n",
              printable(rounds), printable(counts.tasks), printable(counts.changes),
              printable(counts.level_pairs), printable(counts.age_pairs));
  check(counts.level_pairs > 0 && counts.age_pairs > 0, "no pair of tasks could be compared");
}
