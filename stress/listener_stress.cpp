// Listeners: two threads subscribe and remove while two threads change the priority. One of the
// latter aborts, too, and the other one aborts a signal to which some of the listeners are bound.
//
// I1  Once a removal has returned, the callback does not run, what it did is seen, and it was
//     destroyed (ABT-7). A callback that removes itself is destroyed when it has returned.
// I2  An abort listener runs once at most, and a priority listener at most once for each change.
// I3  set_priority within a change's delivery throws NotAllowedError (PRI-6). Listeners may
//     subscribe others.
// I4  What a remover did before it removed a listener is seen by the callback's destructor, whoever
//     runs that (ABT-7).
// I5  However many listeners have come and gone, nothing is left: every callback is destroyed
//     exactly once (ABT-5).
// I6  A listener for one event is called once at most.
// In some rounds one thread subscribes and removes hundreds of listeners beside many that stay, so
// that the registry is pruned while others walk it for an event. In other rounds each listener of
// one event is removed while it runs, and ends at about the moment at which its remover begins to
// wait for that.
#include <array>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "support/crew.hpp"
#include "support/fence.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;

constexpr std::size_t subscribers = 2;

struct Counts {
  std::uint64_t subscribed = 0;
  std::uint64_t calls = 0;
  std::uint64_t self_removed = 0;
};

/// What a callback works on. Once the callback is gone, it is plain data of the thread that
/// subscribed.
struct Slot {
  std::uint32_t calls = 0;
  std::uint32_t calls_when_destroyed = 0;
  std::uint32_t destroyed = 0;
  bool is_for_abort = false;
  bool is_once = false;
  bool ends_by_itself = false;  ///< an event or a signal ends it, unless it is removed before
  bool being_removed =
      false;  ///< what the remover tells the destructor, unless the listener may end by itself
  bool told_when_destroyed = false;
  bool removed_here = false;  ///< the callback has not removed itself
  bool removed = false;
  bool removes_itself = false;
  sync::atomic<bool> is_running{false};   ///< a hint, so that removals fall into runs
  sync::atomic<bool> has_remover{false};  ///< a hint, so that runs end when they are waited for
  Subscription subscription;
  /// Whoever takes it removes the listener: its subscriber, or the callback itself.
  sync::atomic<Subscription*> to_remove{nullptr};

  Subscription* take() noexcept {
    return to_remove.exchange(nullptr, sync::edge("stress:take_subscription", sync::acquire));
  }
};

/// Counts the destruction of the callback.
class Marker {
 public:
  explicit Marker(Slot& slot) : slot_(&slot) {}
  Marker(Marker&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
  Marker& operator=(Marker&&) = delete;
  ~Marker() {
    if (slot_ == nullptr) return;
    ++slot_->destroyed;
    slot_->calls_when_destroyed = slot_->calls;
    if (!slot_->ends_by_itself) slot_->told_when_destroyed = slot_->being_removed;
  }
  [[nodiscard]] Slot& slot() const { return *slot_; }

 private:
  Slot* slot_;
};

class ListenerStress {
 public:
  void round(Random& random) {
    controller_.emplace();
    bond_.emplace();
    const std::uint64_t seed = random();
    const auto kind = random.below(8);
    if (kind < 2) {
      churn_round(seed);
    } else if (kind < 4) {
      removal_round(seed, kind == 2);
    } else {
      crew_.run([this, seed](std::size_t member) {
        Random own(seed + member);
        member < 2 ? change(member, own) : subscribe_all(member - 2, own);
      });
    }
    for (auto& slots : slots_) {
      for (const auto& slot : slots) check_slot(*slot);
      counts_.subscribed += slots.size();
    }
    for (auto& slots : slots_) slots.clear();
  }

  [[nodiscard]] Counts counts() const { return counts_; }

 private:
  void change(std::size_t member, Random& random) {
    for (auto changes = random.below(6); changes > 0; --changes) {
      controller_->set_priority(priorities[random.below(3)]);
      dither(random);
    }
    if (random.one_in(2)) member == 0 ? controller_->abort() : bond_->abort();
  }

  /// Subscribes and removes, and keeps a few subscriptions at a time.
  void subscribe_all(std::size_t subscriber, Random& random) {
    auto& slots = slots_[subscriber];
    for (int i = 0; i < 6; ++i) {
      slots.push_back(std::make_unique<Slot>());
      subscribe(*slots.back(), random);
      if (random.one_in(2)) dither(random);
      if (random.one_in(2)) remove(*slots[random.below(slots.size())]);
    }
    for (auto& slot : slots) remove(*slot);
  }

  void churn_round(std::uint64_t seed) {
    churning_.store(true, sync::relaxed);  // relaxed: before the start.
    crew_.run([this, seed](std::size_t member) {
      Random own(seed + member);
      if (member == 0) return abort_amid(own);
      if (member == 1) return change_amid(own);
      member == 2 ? churn(own) : stay(own);
    });
    check(churned_.destroyed == made_, "a callback was not destroyed exactly once");
  }

  /// Makes listeners come and go, which leaves dead registrations behind.
  void churn(Random& random) {
    const TaskSignal signal = controller_->signal();
    churned_.destroyed = 0;
    made_ = 100 + random.below(300);
    for (std::uint64_t i = 0; i < made_; ++i) {
      auto subscription = random.one_in(2)
                              ? signal.on_abort([marker = Marker(churned_)] {})
                              : signal.on_priority_change([marker = Marker(churned_)] {});
      subscription.reset();
      check(churned_.destroyed == i + 1, "a removed callback was not destroyed");
    }
    churning_.store(false, sync::relaxed);  // relaxed: it ends the round, and carries nothing.
  }

  /// Makes many listeners that stay, so that pruning takes its time, and removes them one by one.
  void stay(Random& random) {
    const TaskSignal signal = controller_->signal();
    std::vector<Subscription> staying;
    for (int i = 0; i < 200; ++i) {
      staying.push_back(random.one_in(2) ? signal.on_abort([] {})
                                         : signal.on_priority_change([] {}));
    }
    while (churning_.load(sync::relaxed) && !staying.empty()) {  // relaxed: as above.
      for (int i = 0; i < 4; ++i) dither(random);
      staying.pop_back();
    }
  }

  void change_amid(Random& random) {
    while (churning_.load(sync::relaxed)) {  // relaxed: as above.
      controller_->set_priority(priorities[random.below(3)]);
      for (int i = 0; i < 4; ++i) dither(random);
    }
  }
  void abort_amid(Random& random) {
    for (auto steps = random.below(400); steps > 0; --steps) dither(random);
    controller_->abort();
  }

  /// One event calls all of these listeners.
  void removal_round(std::uint64_t seed, bool is_for_abort) {
    auto& slots = slots_.front();
    const TaskSignal signal = controller_->signal();
    Random ends(seed);
    for (int i = 0; i < 32; ++i) {
      Slot& slot = *slots.emplace_back(std::make_unique<Slot>());
      slot.is_once = slot.ends_by_itself = slot.is_for_abort = is_for_abort;
      auto callback = [marker = Marker(slot), steps = ends.below(300)] {
        run_until_removed(marker.slot(), steps);
      };
      slot.subscription = is_for_abort
                              ? signal.on_abort(std::move(callback))
                              : signal.on_priority_change(
                                    [callback = std::move(callback)](const auto&) { callback(); });
    }
    crew_.run([&](std::size_t member) {
      if (member == 1) return remove_running(slots);
      if (member != 0) return;
      is_for_abort ? controller_->abort() : controller_->set_priority(TaskPriority::user_blocking);
    });
  }
  static void run_until_removed(Slot& slot, std::uint64_t steps) {
    run(slot);
    // relaxed: as in run().
    meet([&] { return slot.has_remover.load(sync::relaxed); }, "nobody removes a listener");
    const volatile auto end = steps;
    for (std::uint64_t step = 0; step < end; ++step) {
    }
  }
  static void remove_running(std::vector<std::unique_ptr<Slot>>& slots) {
    for (auto& slot : slots) {
      // relaxed: as in run().
      meet([&] { return slot->is_running.load(sync::relaxed); }, "a listener was not called");
      slot->has_remover.store(true, sync::relaxed);  // relaxed: a hint, carries nothing.
      reset(*slot, slot->subscription);
      check(slot->destroyed == 1, "a removed callback was not destroyed");
      slot->removed = slot->removed_here = true;
    }
  }
  /// Waits on the processor for a while, so that the two threads that meet go on at the same time.
  template <class Condition>
  static void meet(Condition&& condition, const char* what) {
    for (int turn = 0; turn < 5000 && !condition(); ++turn) {
    }
    await(condition, what);
  }

  void subscribe(Slot& slot, Random& random) {
    slot.removes_itself = random.one_in(4);
    const TaskSignal signal = controller_->signal();
    slot.is_for_abort = random.one_in(2);
    ListenerOptions options{.once = random.one_in(4)};
    if (random.one_in(2)) options.signal = bond_->signal();
    slot.is_once = slot.is_for_abort || options.once;
    slot.ends_by_itself = slot.is_once || options.signal;
    if (slot.is_for_abort) {
      slot.subscription = signal.on_abort([marker = Marker(slot)] { run(marker.slot()); }, options);
    } else {
      slot.subscription = signal.on_priority_change(
          [this, marker = Marker(slot)](const PriorityChangeEvent& event) {
            check(event.previous != event.current, "an event for the same value");
            if (marker.slot().calls == 0) expect_refusal();
            run(marker.slot());
          },
          options);
    }
    slot.to_remove.store(&slot.subscription, sync::edge("stress:give_subscription", sync::release));
  }

  static void run(Slot& slot) {
    check(!slot.removed, "a callback ran after its removal");
    ++slot.calls;
    check(slot.calls == 1 || !slot.is_once, "a listener for one event ran twice");
    slot.is_running.store(true, sync::relaxed);  // relaxed: a hint, carries nothing.
    const volatile int steps = 15;
    for (int step = 0; step < steps; ++step) {
    }
    if (!slot.removes_itself) return;
    Subscription* mine = slot.take();
    if (mine == nullptr) return;  // not given yet, or taken by its subscriber, which waits for us
    reset(slot, *mine);
    check(slot.destroyed == 0, "a running callback was destroyed");
    slot.removed = true;
  }

  void expect_refusal() {
    try {
      controller_->set_priority(TaskPriority::background);
      check(false, "set_priority within a delivery did not throw");
    } catch (const NotAllowedError&) {
    }
  }

  static void reset(Slot& slot, Subscription& subscription) {
    if (!slot.ends_by_itself) slot.being_removed = true;
    subscription.reset();
  }

  static void remove(Slot& slot) {
    // relaxed: as in run().
    for (int turn = 0; turn < 100 && !slot.is_running.load(sync::relaxed); ++turn) {
    }
    Subscription* mine = slot.take();
    if (mine == nullptr) return;  // it was removed, or removes itself
    reset(slot, *mine);
    check(slot.destroyed == 1, "a removed callback was not destroyed");
    slot.removed = slot.removed_here = true;
  }

  void check_slot(const Slot& slot) {
    check(slot.destroyed == 1, "a callback was not destroyed exactly once");
    check(slot.removed, "a subscription was lost");
    check(slot.calls == slot.calls_when_destroyed, "a callback ran after its destruction");
    check(slot.ends_by_itself || slot.told_when_destroyed,
          "a destructor missed what came before the removal");
    counts_.calls += slot.calls;
    if (!slot.removed_here) ++counts_.self_removed;
  }

  std::optional<TaskController> controller_;
  std::optional<AbortController> bond_;
  Slot churned_;  ///< shared by all listeners that come and go in churn()
  std::uint64_t made_ = 0;
  sync::atomic<bool> churning_{false};
  std::array<std::vector<std::unique_ptr<Slot>>, subscribers> slots_;
  Counts counts_;
  Crew crew_{2 + subscribers};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("listener_stress", {argv, static_cast<std::size_t>(argc)});
  ListenerStress stress;
  const auto is_enough = [&stress] {
    const Counts counts = stress.counts();
    return counts.calls > 0 && counts.self_removed > 0;
  };
  const auto rounds =
      run_rounds(options, [&stress](Random& random) { stress.round(random); }, is_enough);
  const Counts counts = stress.counts();
  std::printf("rounds %llu, subscribed %llu, calls %llu, removed themselves %llu\n",
              printable(rounds), printable(counts.subscribed), printable(counts.calls),
              printable(counts.self_removed));
  check(options.duration.count() == 0 || is_enough(), "no listener ever ran");
}
