// Settling against observing: promises are settled while two loops and plain threads call then()
// and get() on them, await them, wait for them, poll them and drop them.
//
// I1  Every observer sees the one outcome, whole: the value, or the reason. It also sees what the
//     settler did before.
// I2  Every reaction runs exactly once, on the loop it was registered with.
// I3  An outcome that nobody waits for any more is destroyed exactly once.
#include <array>
#include <chrono>
#include <heist/heist.hpp>
#include <optional>
#include <vector>

#include "support/crew.hpp"
#include "support/fence.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;

constexpr std::size_t observers = 2;
constexpr std::size_t subjects = 3;

/// A value with contents elsewhere. It counts how many of them are alive.
class Payload {
 public:
  Payload(std::uint64_t number, sync::atomic<std::uint64_t>& alive)
      : words_(4, number), alive_(&alive) {
    alive_->fetch_add(1, sync::relaxed);  // relaxed: a count.
  }
  Payload(const Payload& other) : words_(other.words_), alive_(other.alive_) {
    alive_->fetch_add(1, sync::relaxed);  // relaxed: a count.
  }
  Payload& operator=(const Payload&) = delete;
  ~Payload() { alive_->fetch_sub(1, sync::relaxed); }  // relaxed: a count.

  [[nodiscard]] bool is(std::uint64_t number) const {
    return words_.size() == 4 && words_.front() == number && words_.back() == number;
  }

 private:
  std::vector<std::uint64_t> words_;
  sync::atomic<std::uint64_t>* alive_;
};

enum class Outcome : std::uint8_t { value, reason, dropped };

/// One promise of a round.
struct Subject {
  std::optional<Promise<Payload>> promise;
  std::optional<Resolver<Payload>> resolver;
  Outcome outcome{};
  std::uint64_t number = 0;
  std::uint64_t before = 0;  ///< written by the settler before it settles
};

struct Counts {
  std::uint64_t promises = 0;
  std::uint64_t pending = 0;  ///< observations that began before the outcome was there
  std::uint64_t reactions = 0;
};

/// Checks that an observer finds the outcome, and what the settler wrote before.
void expect_value(const Subject& subject, const Payload& payload) {
  check(subject.outcome == Outcome::value && payload.is(subject.number), "a value was not whole");
  check(subject.before == subject.number, "the settler's writes were not seen");
}
void expect_reason(const Subject& subject, const Reason& reason) {
  const auto* number = reason.value<std::uint64_t>();
  if (subject.outcome == Outcome::reason) {
    check(number != nullptr && *number == subject.number, "a reason was not whole");
  } else {
    check(subject.outcome == Outcome::dropped && number == nullptr, "a reason from nowhere");
  }
  check(subject.before == subject.number, "the settler's writes were not seen");
}
void expect_settled(const Subject& subject, const Promise<Payload>& promise) {
  if (const Reason reason = promise.reason()) {
    expect_reason(subject, reason);
  } else {
    expect_value(subject, promise.get());
  }
}

/// Awaits the promise on a loop.
Promise<int> await_subject(const Subject* subject, Promise<Payload> promise) {
  Reason reason;
  try {
    const Payload payload = co_await promise;
    expect_value(*subject, payload);
  } catch (...) {
    reason = promise.reason();
  }
  if (reason) expect_reason(*subject, reason);
  co_return 1;
}

class SettleAwait {
 public:
  void round(Random& random) {
    for (Subject& subject : subjects_) begin(subject, random);
    for (auto& results : results_) results.clear();
    const std::uint64_t seed = random();
    crew_.run([this, seed](std::size_t member) {
      Random own(seed + member);
      member == 0 ? settle_all(own) : observe_all(member - 1, own);
    });
    for (auto& results : results_) {
      for (const auto& result : results) {
        check(result.wait_for(std::chrono::seconds(60)), "a reaction never ran");
        check(result.get() == 1, "a reaction did not run exactly once");
      }
      counts_.reactions += results.size();
      results.clear();
    }
    for (Subject& subject : subjects_) subject.promise.reset();
    come_to_rest();
    // relaxed: a quiet point.
    check(alive_.load(sync::relaxed) == 0, "a value was never destroyed");
    counts_.promises += subjects;
  }

  [[nodiscard]] Counts counts() const {
    Counts counts = counts_;
    for (const std::uint64_t pending : pending_) counts.pending += pending;
    return counts;
  }

 private:
  /// The first pass waits until every settling task has run, the second until every reaction has
  /// that those tasks sent to the other agent.
  void come_to_rest() {
    for (int pass = 0; pass < 2; ++pass) {
      for (Agent& agent : agents_) fence(agent.scheduler());
    }
  }

  void begin(Subject& subject, Random& random) {
    auto [promise, resolver] = Promise<Payload>::with_resolver();
    subject.promise.emplace(std::move(promise));
    subject.resolver.emplace(std::move(resolver));
    subject.outcome = random.one_in(3) ? Outcome::reason : Outcome::value;
    if (random.one_in(8)) subject.outcome = Outcome::dropped;
    subject.number = random();
    subject.before = 0;
  }

  void settle_all(Random& random) {
    for (Subject& subject : subjects_) {
      for (auto steps = random.below(4); steps > 0; --steps) dither(random);
      if (random.one_in(2)) {
        settle(subject, alive_);
      } else {
        check(agents_[random.below(2)].scheduler().post(
                  [this, &subject] { settle(subject, alive_); }),
              "an open agent refused a task");
      }
    }
  }
  static void settle(Subject& subject, sync::atomic<std::uint64_t>& alive) {
    subject.before = subject.number;
    if (subject.outcome == Outcome::value) subject.resolver->resolve(subject.number, alive);
    if (subject.outcome == Outcome::reason) subject.resolver->reject(Reason(subject.number));
    subject.resolver.reset();
  }

  void observe_all(std::size_t observer, Random& random) {
    for (auto steps = 2 * subjects; steps > 0; --steps) {
      observe(subjects_[random.below(subjects)], observer, random);
      if (random.one_in(2)) dither(random);
    }
  }

  void observe(const Subject& subject, std::size_t observer, Random& random) {
    const Promise<Payload> promise = *subject.promise;
    if (!promise.settled()) ++pending_[observer];
    const Scheduler scheduler = agents_[random.below(2)].scheduler();
    auto& results = results_[observer];
    switch (random.below(5)) {
      case 0:
        return look(subject, promise, random);
      case 1:
        return wait(subject, promise, random);
      case 2:
        results.push_back(promise.then(
            scheduler, [&subject](const Payload& value) { return expect_value(subject, value), 1; },
            [&subject](const Reason& reason) { return expect_reason(subject, reason), 1; }));
        return;
      case 3:
        results.push_back(
            scheduler.post_task([&subject, promise] { return await_subject(&subject, promise); }));
        return;
      default:
        // Nobody keeps the result of this reaction.
        static_cast<void>(promise.then(scheduler, [](const Payload&) {}));
    }
  }

  static void look(const Subject& subject, const Promise<Payload>& promise, Random& random) {
    for (auto looks = random.below(50); looks > 0 && !promise.settled(); --looks) dither(random);
    if (promise.settled()) expect_settled(subject, promise);
  }

  static void wait(const Subject& subject, const Promise<Payload>& promise, Random& random) {
    if (random.one_in(2)) {
      const auto limit = std::chrono::microseconds(random.below(100));
      while (!promise.wait_for(limit)) {
      }
      // This comes before anything else looks at the promise again.
      check(subject.before == subject.number, "the settler's writes were not seen");
      return expect_settled(subject, promise);
    }
    try {
      expect_value(subject, promise.get());
    } catch (...) {
      expect_reason(subject, promise.reason());
    }
  }

  std::array<Subject, subjects> subjects_;
  std::array<std::vector<Promise<int>>, observers> results_;
  std::array<std::uint64_t, observers> pending_{};
  sync::atomic<std::uint64_t> alive_{0};
  Counts counts_;
  Agent agents_[2];
  Crew crew_{1 + observers};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("settle_await_stress", {argv, static_cast<std::size_t>(argc)});
  // Resolvers are dropped, and nobody observes their promises.
  set_error_hook([](ErrorOrigin, const Reason&) noexcept {});
  SettleAwait stress;
  const auto rounds = run_rounds(options, [&stress](Random& random) { stress.round(random); });
  const Counts counts = stress.counts();
  std::printf("rounds %llu, promises %llu, observed while pending %llu, reactions %llu\n",
              printable(rounds), printable(counts.promises), printable(counts.pending),
              printable(counts.reactions));
  check(counts.pending > 0, "nobody ever came before the outcome");
}
