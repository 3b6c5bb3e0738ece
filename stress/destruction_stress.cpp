// Destruction in every order: agents, loops, controllers, signals, schedulers, promises, resolvers
// and subscriptions that know each other are destroyed in a random order, on three threads and
// inside tasks of another agent, while their tasks run.
//
// I1  Nothing is used after its end (the sanitizers would report it), nothing waits for ever, and
//     no order is wrong (LIF-2).
// I2  Every callback, reaction and coroutine frame is destroyed exactly once, and none is left at
//     the end.
#include <array>
#include <heist/heist.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "support/crew.hpp"
#include "support/fence.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;

constexpr std::size_t destroyers = 3;

/// How many traces there are. It can be read at any time.
sync::atomic<std::int64_t> traces_alive{0};

/// Everything that must be gone in the end has one of these.
class Trace {
 public:
  Trace() { traces_alive.fetch_add(1, sync::relaxed); }  // relaxed: a count.
  Trace(const Trace&) : Trace() {}
  Trace& operator=(const Trace&) = default;
  ~Trace() { traces_alive.fetch_sub(1, sync::relaxed); }  // relaxed: a count.
};

/// Waits for what may never come. If it does not come, the close of the loop ends the coroutine.
Promise<int> await_source(Promise<int> source, Trace trace) {
  const Trace local = trace;
  const int value = co_await source;
  co_return value;
}

using Things = std::vector<std::shared_ptr<void>>;

/// Makes the things of one round, each with one owner.
class Estate {
 public:
  explicit Estate(Random& random) : random_(&random) {}

  Things make() {
    const auto agent = std::make_shared<Agent>();
    const auto loop = std::make_shared<EventLoop>();
    const auto controller = std::make_shared<TaskController>();
    const TaskSignal signal = controller->signal();
    const Scheduler schedulers[] = {agent->scheduler(), loop->scheduler()};
    for (const Scheduler& scheduler : schedulers) {
      keep(scheduler);
      for (auto tasks = random_->below(4); tasks > 0; --tasks) post(scheduler, signal);
      observe(scheduler, schedulers[random_->below(2)]);
    }
    keep(signal);
    keep(AbortSignal(signal));
    keep(signal.on_abort([trace = Trace(), signal] {}));
    keep(signal.on_priority_change([trace = Trace(), scheduler = schedulers[0]] {}));
    own_by_task(schedulers[random_->below(2)]);
    things_.insert(things_.end(), {agent, loop, controller});
    shuffle();
    return std::move(things_);
  }

 private:
  template <class T>
  void keep(T value) {
    things_.push_back(std::make_shared<T>(std::move(value)));
  }

  void post(const Scheduler& scheduler, const TaskSignal& signal) {
    PostTaskOptions options;
    if (random_->one_in(2)) options.signal = signal;
    if (random_->one_in(2)) options.delay = std::chrono::hours(1);
    auto promise = scheduler.post_task([trace = Trace(), scheduler, signal] { return 1; }, options);
    auto next = promise.then(scheduler, [trace = Trace()](int value) { return value + 1; });
    keep(std::move(promise));
    keep(std::move(next));
  }

  /// Makes a reaction and a coroutine that wait for something which only a resolver settles.
  void observe(const Scheduler& scheduler, const Scheduler& other) {
    auto [promise, resolver] = Promise<int>::with_resolver();
    keep(promise.then(other, [trace = Trace()](int value) { return value; }));
    keep(scheduler.post_task([source = promise] { return await_source(source, Trace()); }));
    keep(std::move(promise));
    keep(std::move(resolver));
  }

  /// Makes a task whose callback owns a controller, which may be destroyed with the callback.
  void own_by_task(const Scheduler& scheduler) {
    auto controller = std::make_shared<TaskController>();
    auto task = [trace = Trace(), controller, signal = controller->signal()] {
      controller->abort();
    };
    const bool posted = scheduler.post(task, {.signal = controller->signal()});
    check(posted, "an open loop refused a task");
    keep(std::move(controller));
  }

  void shuffle() {
    for (std::size_t left = things_.size(); left > 1; --left) {
      std::swap(things_[left - 1], things_[random_->below(left)]);
    }
  }

  Random* random_;
  Things things_;
};

class Destruction {
 public:
  void round(Random& random) {
    Things things = Estate(random).make();
    things_destroyed_ += things.size();
    std::array<Things, destroyers> hands;
    while (!things.empty()) {
      hands[random.below(destroyers)].push_back(std::move(things.back()));
      things.pop_back();
    }
    const std::uint64_t seed = random();
    crew_.run([this, &hands, seed](std::size_t member) {
      Random own(seed + member);
      for (auto& thing : hands[member]) {
        if (own.one_in(4)) {
          give_away(std::move(thing), own);
        } else {
          thing.reset();
        }
        dither(own);
      }
    });
    for (Agent& undertaker : undertakers_) fence_twice(undertaker.scheduler());
    // relaxed: a quiet point.
    check(traces_alive.load(sync::relaxed) == 0, "something outlived all its owners");
  }

  [[nodiscard]] std::uint64_t things_destroyed() const { return things_destroyed_; }

 private:
  /// Lets a thing end inside a task of another agent, which may be destroying an agent already.
  void give_away(std::shared_ptr<void> thing, Random& random) {
    Agent& undertaker = undertakers_[random.below(2)];
    check(undertaker.scheduler().post([thing = std::move(thing)] {}), "an agent refused a task");
  }

  std::uint64_t things_destroyed_ = 0;
  Agent undertakers_[2];
  Crew crew_{destroyers};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("destruction_stress", {argv, static_cast<std::size_t>(argc)});
  // Resolvers are dropped, and nobody observes their promises.
  set_error_hook([](ErrorOrigin, const Reason&) noexcept {});
  Destruction stress;
  const auto rounds = run_rounds(options, [&stress](Random& random) { stress.round(random); });
  std::printf("rounds %llu, things destroyed %llu\n", printable(rounds),
              printable(stress.things_destroyed()));
}
