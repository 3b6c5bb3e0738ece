// Mutexes, semaphores and events of coroutines in a cluster of 2 or 8 agents and on an agent that
// closes, while other threads abort waits, take and give back permits, and set events.
//
// I1  Only one has a lock at a time: what it guards is plain data. No more have a permit than there
//     are.
// I2  In the end all locks and permits are free, whatever was aborted or closed.
// I3  Each wait ends, in one way: its coroutine goes on, or is destroyed by a close.
#include <array>
#include <heist/heist.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "support/crew.hpp"
#include "support/open_one.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;

constexpr int tasks = 24;
constexpr std::uint32_t permits = 2;

struct Counts {
  sync::atomic<std::uint64_t> locked{0};
  sync::atomic<std::uint64_t> aborted{0};
  sync::atomic<std::uint64_t> destroyed{0};
};
Counts counts;
void count(sync::atomic<std::uint64_t>& outcome) {
  outcome.fetch_add(1, sync::relaxed);  // relaxed: a number to print.
}

/// Counts the coroutines that were destroyed while they waited.
class Ending {
 public:
  explicit Ending(sync::atomic<int>& open) noexcept : open_(open) {}
  Ending(Ending&&) noexcept = default;
  Ending& operator=(Ending&&) = delete;
  ~Ending() {
    if (open_ && !has_gone_on) count(counts.destroyed);
  }
  bool has_gone_on = false;

 private:
  OpenOne open_;
};

/// What the coroutines of a round share.
struct Shared {
  AsyncMutex mutex;
  AsyncSemaphore semaphore{permits};
  AsyncEvent event;
  AbortController aborts;
  std::uint64_t guarded = 0;          ///< by the mutex
  sync::atomic<std::uint32_t> in{0};  ///< how many have a permit
  sync::atomic<int> open{0};
};

void use_lock(Shared& shared) {
  ++shared.guarded;
  count(counts.locked);
}

void use_permit(Shared& shared) {
  // relaxed: a number that is checked, and orders nothing.
  check(shared.in.fetch_add(1, sync::relaxed) < permits, "more permits than there are");
  shared.in.fetch_sub(1, sync::relaxed);  // relaxed: as above.
}

Promise<void> take_turns(Shared& shared, std::uint64_t seed, Ending ending) {
  Ending own(std::move(ending));
  Random random(seed);
  for (auto turns = 1 + random.below(4); turns > 0; --turns) {
    std::optional<AbortSignal> signal;
    if (random.one_in(2)) signal = shared.aborts.signal();
    try {
      if (random.one_in(2)) {
        const auto guard = co_await shared.mutex.lock(signal);
        use_lock(shared);
        if (random.one_in(3)) co_await yield();
      } else if (random.one_in(8)) {
        co_await shared.event.wait(signal);
      } else {
        const auto permit = co_await shared.semaphore.acquire(signal);
        use_permit(shared);
        if (random.one_in(3)) co_await yield();
      }
    } catch (const std::exception&) {
      count(counts.aborted);
    }
  }
  own.has_gone_on = true;
}

void post_turns(Shared& shared, const Scheduler& scheduler, Random& random) {
  PostTaskOptions options;
  if (random.one_in(2)) options.priority = static_cast<TaskPriority>(random.below(3));
  if (random.one_in(4)) options.signal = shared.aborts.signal();
  scheduler.post(
      [&shared, seed = random(), ending = Ending(shared.open)]() mutable {
        static_cast<void>(take_turns(shared, seed, std::move(ending)));
      },
      options);
}

/// What a plain thread does.
void meddle(Shared& shared, Random& random) {
  for (auto turns = random.below(30); turns > 0; --turns) {
    dither(random);
    if (auto guard = shared.mutex.try_lock()) use_lock(shared);
    if (auto permit = shared.semaphore.try_acquire()) {
      use_permit(shared);
      permit.keep();
      shared.semaphore.release();
    }
    if (random.one_in(4)) shared.event.set();
    if (random.one_in(2)) shared.event.reset();
  }
}

void run_round(Crew& crew, Random& random) {
  Shared shared;
  AgentCluster cluster({.agents = random.one_in(2) ? 2U : 8U});
  std::optional<Agent> closing(std::in_place);
  std::array<Random, 4> randoms{Random(random()), Random(random()), Random(random()),
                                Random(random())};
  crew.run([&](std::size_t member) {
    Random& own = randoms[member];
    for (int i = 0; i < tasks / 4; ++i) {
      post_turns(shared, own.one_in(3) ? closing->scheduler() : cluster.scheduler(), own);
    }
    meddle(shared, own);
    if (member == 2) shared.aborts.abort();
  });
  closing->close(CloseMode::abort());
  closing.reset();
  check(comes_true([&] {
          shared.event.set();
          return shared.open.load(sync::relaxed) == 0;  // relaxed: it looks again.
        }),
        "a wait has not ended");
  cluster.close(CloseMode::drain());
  check(static_cast<bool>(shared.mutex.try_lock()), "a lock was lost");
  check(shared.semaphore.available() == permits, "permits were lost, or made");
}

void ignore(ErrorOrigin /*origin*/, const Reason& /*reason*/) noexcept {}

}  // namespace

int main(int argc, char** argv) {
  const StressOptions options = parse("primitives_stress", {argv, static_cast<std::size_t>(argc)});
  set_error_hook(&ignore);
  Crew crew(4);
  const auto rounds = run_rounds(options, [&](Random& random) { run_round(crew, random); });
  // relaxed, all: the threads have met.
  std::printf("%llu rounds: %llu locked, %llu waits aborted, %llu coroutines destroyed\n",
              printable(rounds), printable(counts.locked.load(sync::relaxed)),
              printable(counts.aborted.load(sync::relaxed)),
              printable(counts.destroyed.load(sync::relaxed)));
  return 0;
}
