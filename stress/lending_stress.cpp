// Threads that lend to the coroutine that holds a lock, while the lock is handed over, its holders
// wait for another lock, and the priorities of their signals change.
//
// I1  When all is quiet, a coroutine's level is the highest of its signal's priority and of what is
//     lent to the locks that it holds.
// I2  However many holders have come and gone, memory is flat.
#include <algorithm>
#include <array>
#include <heist/detail/lent_lock.hpp>
#include <heist/heist.hpp>
#include <vector>

#include "heist/signal/lent_priority.hpp"
#include "support/crew.hpp"
#include "support/flat_memory.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::stress;

constexpr auto none = TaskPriority::background;

/// A lock, and its holder, which waits for the next lock. Its parts are handed over by one thread.
struct Held {
  Ref<LentPriority> lock = LentPriority::make_for_lock();
  Ref<LentPriority> holder;
  TaskController controller{none};
};

class LendingStress {
 public:
  void round(Random& random) {
    for (Held& held : held_) give(held);
    const std::uint64_t seed = random();
    crew_.run([&](std::size_t member) {
      Random own(seed + member);
      member == 0 ? hand_over(own) : member == 1 ? change_bases(own) : lend(own, member);
    });
    judge();
    for (Held& held : held_) let_go(held);
    memory_.look();
  }

  std::uint64_t raised = 0;

 private:
  void give(Held& held) {
    const SchedulingState state{.scheduler = Access::core(scheduler_),
                                .priority = none,
                                .priority_source = &Access::core(held.controller.signal())};
    held.holder = LentPriority::make(state);
    check(held.lock->try_link(*held.holder), "the lock lends to nobody else");
    Held* const next = &held + 1;
    if (next != held_.end()) check(held.holder->try_link(*next->lock), "the holder waits once");
  }
  static void let_go(Held& held) {
    static_cast<void>(held.holder->unlink());
    static_cast<void>(held.lock->unlink());
    held.holder.reset();
  }
  void hand_over(Random& random) {
    for (auto turns = random.below(20); turns > 0; --turns) {
      Held& held = held_[random.below(held_.size())];
      let_go(held);
      dither(random);
      give(held);
    }
  }
  void change_bases(Random& random) {
    for (auto turns = random.below(20); turns > 0; --turns) {
      dither(random);
      held_[random.below(held_.size())].controller.set_priority(any_priority(random));
    }
  }
  /// Lends at random, and leaves what it lends last.
  void lend(Random& random, std::size_t member) {
    const auto at = static_cast<std::size_t>(random.below(held_.size()));
    TaskPriority level = none;
    for (auto turns = random.below(600); turns > 0; --turns) {
      if (random.one_in(8)) dither(random);
      const TaskPriority next = any_priority(random);
      held_[at].lock->lend(level, next);
      level = next;
    }
    lent_[member] = {at, level};
  }
  static TaskPriority any_priority(Random& random) {
    return static_cast<TaskPriority>(random.below(3));
  }

  void judge() {
    TaskPriority level = none;
    for (std::size_t at = 0; at < held_.size(); ++at) {
      Held& held = held_[at];
      for (const auto& lent : lent_) {
        if (lent.at == at) level = std::max(level, lent.level);
      }
      check(held.lock->level() == level, "I1: a lock has another level than what is lent to it");
      level = std::max(level, held.controller.signal().priority());
      check(held.holder->level() == level, "I1: a holder has another level");
      check(held.holder->own_scheduling_priority() == level, "I1: picks use another level");
      if (level != held.controller.signal().priority()) ++raised;
    }
    for (auto& lent : lent_) held_[lent.at].lock->lend(std::exchange(lent.level, none), none);
  }

  struct Lent {
    std::size_t at = 0;
    TaskPriority level = none;
  };

  EventLoop loop_;
  Scheduler scheduler_ = loop_.scheduler();
  std::array<Held, 3> held_;
  std::array<Lent, 4> lent_;
  FlatMemory memory_;
  Crew crew_{4};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("lending_stress", {argv, static_cast<std::size_t>(argc)});
  LendingStress stress;
  const auto rounds = run_rounds(options, [&stress](Random& random) { stress.round(random); });
  std::printf("rounds %llu, raised %llu\n", printable(rounds), printable(stress.raised));
  check(stress.raised > 0, "nobody was ever raised");
}
