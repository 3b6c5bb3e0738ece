// Timeout signals of two agents: three threads and the agents themselves arm them, observe them
// through listeners, dependents and tasks, and drop them while they expire. Some rounds close an
// agent meanwhile.
//
// I1  A signal that is kept aborts once, with TimeoutError, and not before its delay is over
//     (DLY-1, DLY-2). On a closed loop it aborts before the close has returned, or never.
// I2  A signal that is dropped has its event before that, or none. Its listener's callback is
//     destroyed once (LIF-2).
// I3  A dependent has the signal's reason, and the promise of a task settles.
// I4  However many signals have come and gone, memory is flat (ABT-5).
#include <array>
#include <chrono>
#include <heist/heist.hpp>
#include <memory>
#include <optional>

#include "support/cell.hpp"
#include "support/crew.hpp"
#include "support/fence.hpp"
#include "support/flat_memory.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::stress;
using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr microseconds tick(20);
constexpr microseconds longest = 4 * tick;
constexpr std::size_t threads = 3;
constexpr std::size_t armers = threads + 2;  ///< the agents arm, too

AgentOptions quick_agent() {
  AgentOptions options;
  options.loop.tick = tick;
  return options;
}

/// One signal, and what was seen of it.
struct Armed {
  std::size_t agent = 0;
  bool is_far = false;
  std::optional<AbortSignal> signal;
  std::optional<AbortSignal> dependent;
  Cell listener;
  Subscription subscription;
  bool was_in_time = false;  ///< the listener was registered before the event
  Cell task;
  std::optional<Promise<void>> result;
};
using Batch = std::array<Armed, 12>;

struct Counts {
  std::uint64_t expired = 0;
  std::uint64_t never = 0;
  std::uint64_t dropped = 0;
  std::uint64_t dropped_after_event = 0;
};

class TimeoutSignalStress {
 public:
  TimeoutSignalStress() {
    for (auto& agent : agents_) agent.emplace(quick_agent());
  }

  void round(Random& random) {
    for (auto& batch : batches_) batch = std::make_unique<Batch>();
    for (std::size_t i = 0; i < 2; ++i) schedulers_[i] = agents_[i]->scheduler();
    const std::optional<std::size_t> closed =
        random.one_in(8) ? std::optional(random.below(2)) : std::nullopt;
    std::array<std::optional<Promise<void>>, 2> local;
    for (std::size_t i = 0; i < 2; ++i) {
      local[i] = schedulers_[i]->post_task(
          [this, i, own = Random(random())]() mutable { use(*batches_[threads + i], own); });
    }
    const std::uint64_t seed = random();
    crew_.run([&](std::size_t member) {
      Random own(seed + member);
      if (member == 0 && closed) close(*closed, own);
      use(*batches_[member], own);
    });
    for (const auto& promise : local) wait_for(*promise);
    outlast_timers(closed);
    for (auto& batch : batches_) judge(*batch, closed);
    clear(closed);
    memory_.look();
  }

  [[nodiscard]] Counts counts() const { return counts_; }

 private:
  void close(std::size_t agent, Random& random) {
    dither(random);
    agents_[agent]->close(random.one_in(2) ? CloseMode::abort() : CloseMode::drain());
  }

  void use(Batch& batch, Random& random) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      arm(batch[i], random);
      dither(random);
      if (random.one_in(2)) drop(batch[random.below(i + 1)]);
    }
  }

  void arm(Armed& armed, Random& random) {
    armed.agent = random.below(2);
    armed.is_far = random.one_in(4);
    const microseconds delay = armed.is_far ? std::chrono::hours(1) : tick * random.below(5);
    const Scheduler& scheduler = *schedulers_[armed.agent];
    const auto earliest = Clock::now() + delay;
    armed.signal = AbortSignal::timeout(scheduler, delay);
    armed.subscription = armed.signal->on_abort(witnessed(armed.listener, [&armed, earliest] {
      check(Clock::now() >= earliest, "I1: early");
      check(armed.listener.runs == 1, "I1: a second event");
    }));
    armed.was_in_time = armed.subscription.active();
    if (random.one_in(2)) armed.dependent = AbortSignal::any({*armed.signal, shutdown_.signal()});
    if (random.one_in(2)) {
      const auto& signal = armed.dependent ? *armed.dependent : *armed.signal;
      armed.result = schedulers_[random.below(2)]->post_task(witnessed(armed.task),
                                                             {.signal = signal, .delay = longest});
    }
  }

  /// Drops the signal. If something still refers to it, for example its task, it keeps its timer.
  void drop(Armed& armed) {
    armed.signal.reset();
    armed.dependent.reset();
    armed.subscription.reset();
    check(armed.listener.destroyed == 1, "I2: a removed listener's callback is still there");
  }

  static void wait_for(const Promise<void>& local) {
    static_cast<void>(local.wait_for(std::chrono::seconds(60)));
    check(local.status() != PromiseStatus::pending, "an agent is stuck");
  }
  /// Waits until all timers are over, then until the agents have cleared away the tasks that these
  /// have aborted on the other agent.
  void outlast_timers(std::optional<std::size_t> closed) {
    for (std::size_t i = 0; i < 2; ++i) {
      if (i == closed) continue;
      schedulers_[i]
          ->post_task([] {}, {.priority = TaskPriority::background, .delay = longest + 2 * tick})
          .get();
    }
    for (std::size_t i = 0; i < 2; ++i) {
      if (i != closed) fence(*schedulers_[i]);
    }
  }

  void judge(const Batch& batch, std::optional<std::size_t> closed) {
    for (const Armed& armed : batch) judge(armed, closed);
  }
  void judge(const Armed& armed, std::optional<std::size_t> closed) {
    check(armed.listener.runs <= 1, "I1: a second event");
    if (armed.result) {
      check(armed.result->status() != PromiseStatus::pending, "I3: a task never settled");
      check(armed.task.destroyed == 1, "I3: a callback was not destroyed exactly once");
    }
    if (!armed.signal) {
      ++counts_.dropped;
      counts_.dropped_after_event += armed.listener.runs;
      return;
    }
    const bool aborted = armed.signal->aborted();
    check(aborted || armed.listener.runs == 0, "I1: an event of nothing");
    check(!aborted || !armed.was_in_time || armed.listener.runs == 1, "I1: an event is missing");
    check(!aborted || is_timeout(armed.signal->reason()), "I1: another reason");
    check(!aborted || !armed.is_far, "I1: an hour early");
    check(aborted || armed.is_far || armed.agent == closed, "I1: it never aborted");
    if (armed.dependent) {
      check(armed.dependent->reason() == armed.signal->reason(), "I3: a dependent's own reason");
    }
    ++(aborted ? counts_.expired : counts_.never);
  }
  static bool is_timeout(const Reason& reason) {
    try {
      reason.rethrow();
    } catch (const TimeoutError&) {
      return true;
    } catch (...) {
      return false;
    }
  }

  /// Drops all signals. Those of a closed agent go before the agent does, or after it.
  void clear(std::optional<std::size_t> closed) {
    if (closed && counts_.dropped % 2 == 0) agents_[*closed].reset();
    for (auto& batch : batches_) batch.reset();
    if (closed) agents_[*closed].emplace(quick_agent());
    for (std::size_t i = 0; i < 2; ++i) fence(agents_[i]->scheduler());
  }

  AbortController shutdown_;
  std::array<std::unique_ptr<Batch>, armers> batches_;
  std::array<std::optional<Agent>, 2> agents_;
  std::array<std::optional<Scheduler>, 2> schedulers_;
  Counts counts_;
  FlatMemory memory_;
  Crew crew_{threads};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("timeout_signal_stress", {argv, static_cast<std::size_t>(argc)});
  TimeoutSignalStress stress;
  const auto rounds = run_rounds(options, [&stress](Random& random) { stress.round(random); });
  const Counts counts = stress.counts();
  std::printf("rounds %llu, expired %llu, never %llu, dropped %llu (%llu after its event)\n",
              printable(rounds), printable(counts.expired), printable(counts.never),
              printable(counts.dropped), printable(counts.dropped_after_event));
  check(counts.expired > 0 && counts.never > 0, "no signal expired, or all did");
  check(counts.dropped > counts.dropped_after_event && counts.dropped_after_event > 0,
        "one outcome of the race was never seen");
}
