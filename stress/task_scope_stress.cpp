// Scopes within scopes, on plain threads, in coroutines and in plain tasks of a small cluster,
// while other threads abort what they depend on and close the cluster.
//
// I1  When a scope has been joined or destroyed, whatever has been thrown, each task that it was
//     given has ended: what the task had captured has counted that, once, in memory of the scope's
//     owner. Only the join orders that, so that a sanitizer reports one that is too early (SCO-1).
// I2  Each of these joins and destructors returns: none is one of the waits that SCO-6 names.
#include <array>
#include <chrono>
#include <heist/heist.hpp>
#include <stdexcept>
#include <utility>

#include "support/crew.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;

constexpr int most_depth = 3;

struct Outcomes {
  sync::atomic<std::uint64_t> returned{0};
  sync::atomic<std::uint64_t> thrown{0};
  sync::atomic<std::uint64_t> unjoined{0};
};
Outcomes outcomes;
void count(sync::atomic<std::uint64_t>& outcome) {
  outcome.fetch_add(1, sync::relaxed);  // relaxed: a number to print.
}

/// What a task captures.
class Ending {
 public:
  explicit Ending(int& ended) : ended_(&ended) {}
  Ending(Ending&& other) noexcept : ended_(std::exchange(other.ended_, nullptr)) {}
  Ending& operator=(Ending&&) = delete;
  ~Ending() {
    if (ended_ != nullptr) ++*ended_;
  }

 private:
  int* ended_;
};

/// Stands before a scope, and is destroyed after it.
struct Cells {
  std::array<int, 5> ended{};

  Cells() = default;
  Cells(const Cells&) = delete;
  Cells& operator=(const Cells&) = delete;
  ~Cells() {
    for (const int one : ended) check(one == 1, "a task has not ended, or ended twice");
  }
};

/// What the owner of a scope has.
struct Place {
  Scheduler scheduler;
  AbortSignal outer;
  int depth;

  [[nodiscard]] Place within(const TaskScope& scope) const {
    return {scheduler, scope.signal(), depth + 1};
  }
};

Promise<void> own_in_a_coroutine(Place place, std::uint64_t seed, Ending last);
void own_in_a_task(const Place& place, std::uint64_t seed);

StartOptions some_options(Random& random) {
  StartOptions options;
  if (random.one_in(3)) options.priority = static_cast<TaskPriority>(random.below(3));
  if (random.one_in(4)) options.delay = std::chrono::microseconds(random.below(2000));
  return options;
}

/// Starts a callback that does something and returns.
void start_plain(TaskScope& scope, const Place& place, Random& random, int& ended) {
  const auto kind = random.below(100);
  const auto seed = random();
  scope.start(
      [&scope, inner = place.within(scope), kind, seed, last = Ending(ended)] {
        Random own(seed);
        dither(own);
        if (kind == 0) throw std::runtime_error("one of the tasks");
        if (kind == 1) scope.abort();
        if (kind > 75 && inner.depth < most_depth) own_in_a_task(inner, seed);
      },
      some_options(random));
}

/// Starts a coroutine: one that yields, or one that owns a scope.
void start_coroutine(TaskScope& scope, const Place& place, Random& random, int& ended) {
  const auto seed = random();
  if (place.depth < most_depth && random.one_in(2)) {
    scope.start(
        [inner = place.within(scope), seed, last = Ending(ended)]() mutable {
          return own_in_a_coroutine(inner, seed, std::move(last));
        },
        some_options(random));
    return;
  }
  scope.start(
      [seed, last = Ending(ended)]() -> Promise<void> {
        Random own(seed);
        for (auto turns = own.below(4); turns > 0; --turns) co_await yield();
        if (own.one_in(100)) throw std::runtime_error("one of the coroutines");
      },
      some_options(random));
}

void start_any(TaskScope& scope, const Place& place, Random& random, Cells& cells) {
  for (int& one : cells.ended) {
    random.one_in(2) ? start_plain(scope, place, random, one)
                     : start_coroutine(scope, place, random, one);
  }
}

Promise<void> own_in_a_coroutine(Place place, std::uint64_t seed, Ending last) {
  const Ending own_last(std::move(last));
  Random random(seed);
  Cells cells;
  TaskScope scope(place.scheduler, {.signal = place.outer});
  start_any(scope, place, random, cells);
  co_await scope.join();
}

/// The scope is destroyed on the agent that may have to run its tasks, so these are plain.
void own_in_a_task(const Place& place, std::uint64_t seed) {
  Random random(seed);
  Cells cells;
  TaskScope scope(place.scheduler, {.signal = place.outer});
  for (int& one : cells.ended) start_plain(scope, place, random, one);
  count(outcomes.unjoined);
  if (random.one_in(2)) throw std::runtime_error("an owner");
}

void own_in_a_thread(const Place& place, Random& random) {
  Cells cells;
  TaskScope scope(place.scheduler, {.signal = place.outer});
  start_any(scope, place, random, cells);
  dither(random);
  if (random.one_in(4)) return count(outcomes.unjoined);
  try {
    scope.join();
    count(outcomes.returned);
  } catch (const std::exception&) {
    count(outcomes.thrown);
  }
}

CloseMode some_mode(Random& random) {
  if (random.one_in(3)) return CloseMode::drain();
  if (random.one_in(2)) return CloseMode::drain_until(std::chrono::steady_clock::now());
  return CloseMode::abort();
}

void run_round(Crew& crew, Random& random) {
  AgentCluster cluster({.agents = 1 + static_cast<unsigned>(random.below(3))});
  std::array<Random, 4> randoms{Random(random()), Random(random()), Random(random()),
                                Random(random())};
  AbortController outer;
  const bool aborts = random.one_in(3);
  const bool closes = random.one_in(3);
  crew.run([&](std::size_t member) {
    Random& own = randoms[member];
    const Scheduler where = own.one_in(3) ? cluster.agent(0).scheduler() : cluster.scheduler();
    if (member < 2) {
      for (int i = 0; i < 4; ++i) own_in_a_thread({where, outer.signal(), 0}, own);
      return;
    }
    for (auto waits = own.below(20); waits > 0; --waits) dither(own);
    if (member == 2 && aborts) outer.abort();
    if (member == 3 && closes) cluster.close(some_mode(own));
  });
}

/// Errors of coroutines that nobody joins any more are told to the hook. That is no failure here.
void ignore(ErrorOrigin /*origin*/, const Reason& /*reason*/) noexcept {}

}  // namespace

int main(int argc, char** argv) {
  const StressOptions options = parse("task_scope_stress", {argv, static_cast<std::size_t>(argc)});
  set_error_hook(&ignore);
  Crew crew(4);
  const auto rounds = run_rounds(options, [&](Random& random) { run_round(crew, random); });
  // relaxed, all: the threads have met.
  std::printf("%llu rounds: %llu joins returned, %llu threw, %llu scopes were not joined\n",
              printable(rounds), printable(outcomes.returned.load(sync::relaxed)),
              printable(outcomes.thrown.load(sync::relaxed)),
              printable(outcomes.unjoined.load(sync::relaxed)));
  return 0;
}
