// Abort against post: a signal is aborted while two threads post its tasks to two agents.
//
// I1  A post succeeds or is refused. If it succeeds, the task runs, or its promise rejects with the
//     reason. If it is refused, post() returns false, and the promise of post_task() has the reason
//     at once (ABT-2).
// I2  Once aborted() is true, the reason can be read, and every post is refused.
// I3  Every callback is destroyed exactly once, also that of a task with an hour's delay (ABT-4).
// I4  Listeners hear of the abort once, while the registry is pruned (there are many short tasks
//     and few long ones).
#include <array>
#include <heist/heist.hpp>
#include <optional>
#include <vector>

#include "support/cell.hpp"
#include "support/crew.hpp"
#include "support/fence.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;

constexpr std::size_t posters = 2;
constexpr std::size_t most_posts = 200;
constexpr int answer = 42;

struct Counts {
  std::uint64_t ran = 0;
  std::uint64_t aborted = 0;
  std::uint64_t refused = 0;
};

/// What one poster did in a round.
struct Part {
  std::array<Cell, most_posts + 1> cells{};
  std::vector<Promise<void>> promises;
  std::size_t used = 0;     ///< how many cells belong to callbacks
  std::size_t refused = 0;  ///< how many posts were refused
};

/// A reason that another thread could find half written.
struct Why {
  std::array<std::uint64_t, 4> words{};
};

class AbortPost {
 public:
  void round(Random& random) {
    controller_.emplace();
    for (Part& part : parts_) {
      part.cells.fill({});
      part.promises.clear();
      part.used = part.refused = 0;
    }
    destroyed_.store(0, sync::relaxed);  // relaxed: before the start.
    heard_ = 0;
    const std::size_t posts = random.one_in(16) ? most_posts : 1 + random.below(6);
    const std::uint64_t seed = random();
    crew_.run([this, posts, seed](std::size_t member) {
      Random own(seed + member);
      member == 0 ? abort(posts, own) : post_all(parts_[member - 1], posts, own);
    });
    settle_and_check();
  }

  [[nodiscard]] Counts counts() const { return counts_; }

 private:
  void abort(std::size_t posts, Random& random) {
    const auto subscription = controller_->signal().on_abort([this] { ++heard_; });
    if (random.one_in(2)) let_others_begin();
    for (auto steps = random.below(2 * posts); steps > 0; --steps) dither(random);
    Why why;
    for (std::uint64_t& word : why.words) word = answer;
    controller_->abort(why);
    check(heard_ == 1, "a listener was not called exactly once");
  }

  /// Called before the abort, which would always come first on one processor. It does not wait for
  /// ever, because all tasks may be delayed.
  void let_others_begin() const {
    // relaxed: chooses a moment only.
    for (int turn = 0; turn < 100 && destroyed_.load(sync::relaxed) == 0; ++turn) {
      std::this_thread::yield();
    }
  }

  /// Posts until it sees the abort, and once more after that.
  void post_all(Part& part, std::size_t posts, Random& random) {
    const AbortSignal signal = controller_->signal();
    while (part.used < posts && !signal.aborted()) {
      post_one(part, signal, random);
      if (random.one_in(4)) dither(random);
    }
    await([&signal] { return signal.aborted(); }, "the abort was never seen");
    const Why* why = signal.reason().value<Why>();
    check(why != nullptr && why->words[0] == answer && why->words[3] == answer,
          "the reason of an abort was not readable");
    const std::size_t refused = part.refused;
    post_one(part, signal, random);
    check(part.refused == refused + 1, "a post after the abort was not refused");
  }

  void post_one(Part& part, const AbortSignal& signal, Random& random) {
    PostTaskOptions options{.signal = signal};
    if (random.one_in(4)) options.delay = std::chrono::hours(1);
    const Scheduler scheduler = agents_[random.below(2)].scheduler();
    auto callback = [witness = Witness(part.cells[part.used]), gone = Gone(destroyed_)] {
      ++witness.cell().runs;
    };
    ++part.used;
    if (random.one_in(2)) {
      if (!scheduler.post(std::move(callback), options)) ++part.refused;
      return;
    }
    auto promise = scheduler.post_task(std::move(callback), options);
    // The post was refused, or the task was claimed at once. The two cannot be told apart here.
    if (promise.status() == PromiseStatus::rejected) ++part.refused;
    part.promises.push_back(std::move(promise));
  }

  void settle_and_check() {
    const Reason reason = controller_->signal().reason();
    std::size_t made = 0;
    for (Part& part : parts_) {
      made += part.used;
      for (const auto& promise : part.promises) {
        check(promise.wait_for(std::chrono::seconds(60)), "a promise never settled");
        check(promise.status() == PromiseStatus::fulfilled || promise.reason() == reason,
              "a promise was rejected with another reason");
      }
    }
    // relaxed: a number; the fences order what was done.
    await([this, made] { return destroyed_.load(sync::relaxed) == made; },
          "the callback of an aborted task was never destroyed");
    for (Agent& agent : agents_) fence(agent.scheduler());
    for (const Part& part : parts_) check_part(part);
  }

  void check_part(const Part& part) {
    std::uint64_t ran = 0;
    std::uint64_t fulfilled = 0;
    for (std::size_t i = 0; i < part.used; ++i) {
      check(part.cells[i].destroyed == 1, "a callback was not destroyed exactly once");
      check(part.cells[i].runs <= 1, "a task ran twice");
      ran += part.cells[i].runs;
    }
    for (const auto& promise : part.promises) {
      if (promise.status() == PromiseStatus::fulfilled) ++fulfilled;
    }
    check(fulfilled <= ran, "a promise was fulfilled though its task did not run");
    counts_.ran += ran;
    counts_.refused += part.refused;
    counts_.aborted += part.used - ran;
  }

  /// Counts its destruction. The count can be read while others are still being destroyed.
  class Gone {
   public:
    explicit Gone(sync::atomic<std::uint64_t>& count) : count_(&count) {}
    Gone(Gone&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
    Gone& operator=(Gone&&) = delete;
    ~Gone() {
      if (count_ != nullptr) count_->fetch_add(1, sync::relaxed);  // relaxed: a count.
    }

   private:
    sync::atomic<std::uint64_t>* count_;
  };

  std::optional<TaskController> controller_;
  std::array<Part, posters> parts_;
  sync::atomic<std::uint64_t> destroyed_{0};
  int heard_ = 0;
  Counts counts_;
  Agent agents_[2];
  Crew crew_{1 + posters};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("abort_post_stress", {argv, static_cast<std::size_t>(argc)});
  AbortPost stress;
  const auto rounds = run_rounds(options, [&stress](Random& random) { stress.round(random); });
  const Counts counts = stress.counts();
  std::printf("rounds %llu, ran %llu, never ran %llu, refused %llu\n", printable(rounds),
              printable(counts.ran), printable(counts.aborted), printable(counts.refused));
  check(counts.ran > 0 && counts.aborted > counts.refused, "a side of the race was never seen");
}
