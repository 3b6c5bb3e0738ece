// Dependent signals of shared roots: two threads make, nest, observe and drop them while two others
// abort roots and change priorities. One more root lives as long as the program.
//
// I1  A signal has one event at most, and has it by the end if any of its roots was aborted. Its
//     reason is that of one of them.
// I2  Whoever hears of a root's abort finds every signal that depends on it marked (ABT-3).
// I3  A task of a dependent never starts after the abort() of one of its roots has returned. Its
//     promise settles, and its callback is destroyed once (ABT-2).
// I4  The priority events of a dependent make a chain, and in the end it shows its source's
//     priority (PRI-6).
// I5  However many signals have come and gone, memory is flat (ABT-5).
#include <array>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
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

constexpr std::size_t root_count = 3;
constexpr std::size_t makers = 2;
constexpr std::size_t most_made = 10;
using AbortedRoots = Facts<root_count>;
using Roots = AbortedRoots::Mask;

struct Counts {
  std::uint64_t made = 0;
  std::uint64_t events = 0;
  std::uint64_t priority_events = 0;
  std::uint64_t ran = 0;
  std::uint64_t rejected = 0;
};

/// A task of a dependent signal.
struct Posted {
  Cell callback;
  std::optional<Promise<void>> result;
};

/// One dependent signal, and what was seen of it. It is plain data: the runtime has to order what
/// threads do with it.
struct Dependent {
  std::optional<TaskSignal> signal;
  Roots roots = 0;
  std::optional<std::size_t> source;  ///< the root whose priority it follows
  Cell listener;
  std::vector<PriorityChangeEvent> changes;  ///< written by one deliverer after another
  Posted task;
  Posted last_holder;  ///< of a signal like this one, to which nobody else has a reference
  Subscription on_abort;
  Subscription on_change;
};

/// What one maker has made in this round. Other threads may look at the first `published`.
struct Made {
  std::array<Dependent, most_made> all;
  sync::atomic<std::size_t> published{0};
};

[[nodiscard]] bool is_of(const Reason& reason, Roots roots) {
  const int* root = reason.value<int>();
  return root != nullptr && ((roots >> *root) & 1U) != 0;
}

class AnyStress {
 public:
  void round(Random& random) {
    for (auto& root : roots_) root.emplace(priorities[random.below(3)]);
    for (auto& made : made_) made = std::make_unique<Made>();
    listen_to_roots();
    const std::uint64_t seed = random();
    crew_.run([this, seed](std::size_t member) {
      Random own(seed + member);
      if (member < makers) return make_all(*made_[member], own);
      member == makers ? abort_some(own) : change_priorities(own);
    });
    for (Agent& agent : agents_) fence_twice(agent.scheduler());
    for (auto& made : made_) judge(*made);
    clear(random);
    memory_.look();
  }

  [[nodiscard]] Counts counts() const { return counts_; }

 private:
  void listen_to_roots() {
    for (std::size_t root = 0; root < root_count; ++root) {
      on_root_[root] = roots_[root]->signal().on_abort([this, root] { check_marked(root); });
    }
  }
  void check_marked(std::size_t root) {
    for (const auto& made : made_) {
      const auto count = made->published.load(sync::edge("stress:told", sync::acquire));
      for (std::size_t i = 0; i < count; ++i) {
        const Dependent& dependent = made->all[i];
        if (((dependent.roots >> root) & 1U) == 0) continue;
        check(dependent.signal->aborted(), "I2: a listener found a dependent unmarked");
      }
    }
  }

  void make_all(Made& made, Random& random) {
    const auto count = 1 + random.below(most_made);
    for (std::size_t i = 0; i < count; ++i) {
      Dependent& dependent = made.all[i];
      make(dependent, made, i, random);
      if (random.one_in(2)) observe(dependent);
      if (random.one_in(2)) post(dependent.task, *dependent.signal, dependent.roots, random);
      if (random.one_in(2)) post_last_holder(dependent, random);
      made.published.store(i + 1, sync::edge("stress:tell", sync::release));
      drop_one_at_once(dependent, random);
      dither(random);
    }
  }

  /// Makes a dependent of some roots, and of a signal that this maker or another one made before.
  void make(Dependent& dependent, const Made& own, std::size_t before, Random& random) {
    std::vector<AbortSignal> list{shutdown_.signal()};
    dependent.roots = static_cast<Roots>(random.below(1U << root_count));
    for (std::size_t root = 0; root < root_count; ++root) {
      if (((dependent.roots >> root) & 1U) != 0) list.push_back(roots_[root]->signal());
    }
    const Made& others = *made_[random.below(makers)];
    const bool is_own = &others == &own;
    const auto visible =
        is_own ? before : others.published.load(sync::edge("stress:told", sync::acquire));
    const Dependent* nested = visible > 0 ? &others.all[random.below(visible)] : nullptr;
    if (nested != nullptr) {
      list.push_back(*nested->signal);
      dependent.roots |= nested->roots;
    }
    make_signal(dependent, list, nested, random);
  }
  void make_signal(Dependent& dependent, const std::vector<AbortSignal>& list,
                   const Dependent* nested, Random& random) {
    if (nested != nullptr && nested->source && random.one_in(2)) {
      dependent.source = nested->source;
      dependent.signal = TaskSignal::any(list, *nested->signal);
      return;
    }
    dependent.source = random.below(root_count);
    dependent.signal = TaskSignal::any(list, roots_[*dependent.source]->signal());
  }

  void observe(Dependent& dependent) {
    dependent.on_abort = dependent.signal->on_abort(witnessed(dependent.listener, [&dependent] {
      check(dependent.listener.runs == 1, "I1: a second event");
      check(dependent.signal->aborted(), "I2: an event before the mark");
    }));
    dependent.on_change = dependent.signal->on_priority_change(
        [&dependent](const PriorityChangeEvent& event) { dependent.changes.push_back(event); });
  }

  void post(Posted& task, const TaskSignal& signal, Roots roots, Random& random) {
    const std::size_t agent = random.below(2);
    task.result = agents_[agent].scheduler().post_task(
        witnessed(task.callback,
                  [this, agent, roots] {
                    check((known_before_[agent] & roots) == 0,
                          "I3: a task started after the abort of a root had returned");
                    known_before_[agent] = aborted_.known();
                  }),
        {.signal = signal});
  }
  void post_last_holder(Dependent& like, Random& random) {
    const auto signal = TaskSignal::any({*like.signal}, roots_[*like.source]->signal());
    post(like.last_holder, signal, like.roots, random);
  }

  /// Makes and drops a signal that nobody else ever sees.
  void drop_one_at_once(const Dependent& like, Random& random) {
    const auto signal = TaskSignal::any({*like.signal, shutdown_.signal()}, shutdown_.signal());
    if (random.one_in(2)) return;
    Cell cell;
    auto subscription = signal.on_abort(witnessed(cell));
    if (random.one_in(2)) dither(random);
    subscription.reset();
    // An event that has claimed the listener still holds it, but the removal has destroyed the
    // callback.
    check(cell.destroyed == 1, "a removed listener's callback is still there");
  }

  void abort_some(Random& random) {
    for (std::size_t root = 0; root < root_count; ++root) {
      if (random.one_in(2)) continue;
      dither(random);
      dither(random);
      roots_[root]->abort(static_cast<int>(root));
      aborted_.tell(root);
    }
  }
  void change_priorities(Random& random) {
    for (auto changes = random.below(8); changes > 0; --changes) {
      roots_[random.below(root_count)]->set_priority(priorities[random.below(3)]);
      if (random.one_in(4)) shutdown_.set_priority(priorities[random.below(3)]);
      if (random.one_in(4)) roots_[0]->abort(0);
      dither(random);
    }
  }

  void judge(Made& made) {
    const auto count = made.published.load(sync::relaxed);  // relaxed: a quiet point.
    for (std::size_t i = 0; i < count; ++i) judge(made.all[i]);
    counts_.made += count;
  }
  void judge(Dependent& dependent) {
    const bool is_observed = dependent.listener.runs > 0;
    const bool has_aborted_root = is_any_aborted(dependent.roots);
    check(dependent.signal->aborted() == has_aborted_root, "I1: aborted, or not, without reason");
    check(!is_observed || has_aborted_root, "I1: an event of nothing");
    check(!has_aborted_root || is_of(dependent.signal->reason(), dependent.roots),
          "I1: a reason that is none of its roots'");
    check(!has_aborted_root || !dependent.on_abort.active(), "I1: an event is missing");
    counts_.events += dependent.listener.runs;
    judge_task(dependent.task, dependent.roots);
    judge_task(dependent.last_holder, dependent.roots);
    judge_priority(dependent);
  }
  [[nodiscard]] bool is_any_aborted(Roots roots) const {
    for (std::size_t root = 0; root < root_count; ++root) {
      if (((roots >> root) & 1U) != 0 && roots_[root]->signal().aborted()) return true;
    }
    return false;
  }
  void judge_task(const Posted& task, Roots roots) {
    if (!task.result) return;
    const auto status = task.result->status();
    check(status != PromiseStatus::pending, "I3: a task never settled");
    check(task.callback.destroyed == 1, "I3: a callback was not destroyed exactly once");
    const bool has_run = task.callback.runs == 1;
    check(has_run || status == PromiseStatus::rejected, "I3: settled without a run or an abort");
    if (status == PromiseStatus::rejected) {
      check(is_of(task.result->reason(), roots), "I3: a reason that is none of its roots'");
      ++counts_.rejected;
    }
    counts_.ran += task.callback.runs;
  }
  void judge_priority(const Dependent& dependent) {
    const TaskPriority now = dependent.signal->priority();
    check(now == roots_[*dependent.source]->signal().priority(), "I4: not its source's priority");
    const auto& changes = dependent.changes;
    counts_.priority_events += changes.size();
    for (std::size_t i = 0; i < changes.size(); ++i) {
      check(changes[i].previous != changes[i].current, "I4: an event of no change");
      check(i == 0 || changes[i].previous == changes[i - 1].current, "I4: a gap in the events");
    }
    check(changes.empty() || changes.back().current == now, "I4: the last event is not the last");
  }

  /// Drops roots and dependents, in either order.
  void clear(Random& random) {
    const bool roots_first = random.one_in(2);
    if (roots_first) clear_roots();
    for (auto& made : made_) made.reset();
    if (!roots_first) clear_roots();
    aborted_.forget();
    known_before_ = {};
  }
  void clear_roots() {
    for (auto& subscription : on_root_) subscription.reset();
    for (auto& root : roots_) root.reset();
  }

  TaskController shutdown_;
  std::array<std::optional<TaskController>, root_count> roots_;
  std::array<Subscription, root_count> on_root_;
  std::array<std::unique_ptr<Made>, makers> made_;
  AbortedRoots aborted_;
  std::array<Roots, 2> known_before_{};  ///< what each agent knew at the end of its last task
  Counts counts_;
  FlatMemory memory_;
  Agent agents_[2];
  Crew crew_{makers + 2};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("any_stress", {argv, static_cast<std::size_t>(argc)});
  AnyStress stress;
  const auto rounds = run_rounds(options, [&stress](Random& random) { stress.round(random); });
  const Counts counts = stress.counts();
  std::printf(
      "rounds %llu, made %llu, events %llu, priority events %llu; tasks ran %llu, rejected %llu\n",
      printable(rounds), printable(counts.made), printable(counts.events),
      printable(counts.priority_events), printable(counts.ran), printable(counts.rejected));
  check(counts.events > 0 && counts.priority_events > 0, "nothing was ever delivered");
  check(counts.ran > 0 && counts.rejected > 0, "one outcome of the race was never seen");
}
