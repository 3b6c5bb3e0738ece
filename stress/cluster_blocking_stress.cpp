// A cluster whose tasks block all the time, with reserves that come, go and end. Threads outside
// post tasks that wait for other tasks, fork, yield, or post more tasks, some of them to the very
// agent or reserve on which they run. Meanwhile the scheduler is suspended, and in half of the
// rounds the cluster is closed or destroyed in the middle of everything.
//
// I1  Every callback runs once at most, and is destroyed exactly once.
// I2  Every promise settles.
// I3  In a round without a close everything comes to its end, as long as not all members block
//     (CLU-3).
// I4  There are never more threads than agents and reserves.
// I5  However many tasks have come and gone, memory is flat.
#include <array>
#include <atomic>
#include <chrono>
#include <heist/agent_cluster.hpp>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "support/cell.hpp"
#include "support/crew.hpp"
#include "support/fence.hpp"
#include "support/flat_memory.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;
using std::chrono::microseconds;

constexpr std::size_t posters = 2;

struct Job {
  Cell callback;
  std::optional<Promise<int>> promise;
};

struct Counts {
  std::uint64_t ran = 0;
  std::uint64_t dropped = 0;
  std::uint64_t blocked = 0;
  std::uint64_t threads = 0;  ///< how many threads reserves have had
};

class BlockingStress {
 public:
  void round(Random& random) {
    begin(random);
    const std::uint64_t seed = random();
    crew_.run([this, seed](std::size_t member) {
      Random own(seed + member);
      if (member == 0) return closes_ ? close(own) : disturb(own);
      post_all(parts_[member - 1], own);
    });
    if (!closes_) {
      for (const auto& part : parts_) {
        for (const auto& job : part) {
          check(job->promise->wait_for(std::chrono::seconds(60)),
                "I3: a task never came to its end");
        }
      }
    }
    cluster_.reset();
    check(alive_.load() == 0, "I4: a thread outlives its cluster");
    for (const auto& part : parts_) {
      for (const auto& job : part) judge(*job);
    }
    for (auto& part : parts_) part.clear();
    scheduler_.reset();
    memory_.look();
  }

  [[nodiscard]] Counts counts() const {
    Counts counts = counts_;
    counts.blocked = blocked_.load();
    counts.threads = reserve_threads_.load();
    return counts;
  }

 private:
  void begin(Random& random) {
    constexpr std::array idle{microseconds(0), microseconds(30), microseconds(300),
                              microseconds(10'000'000)};
    AgentClusterOptions options{.agents = 2 + static_cast<unsigned>(random.below(3))};
    if (random.one_in(2)) options.reserves = static_cast<unsigned>(random.below(4));
    const unsigned threads = options.agents + options.reserves.value_or(options.agents);
    options.reserve_idle = idle[random.below(idle.size())];
    options.loop.tick = microseconds(20);
    if (random.one_in(2)) options.loop.spin = options.loop.spin.zero();
    options.on_start = [this, threads, agents = options.agents](unsigned index) {
      check(alive_.fetch_add(1) < threads && index < threads, "I4: there are more threads");
      if (index >= agents) reserve_threads_.fetch_add(1);
    };
    options.on_stop = [this](unsigned) { alive_.fetch_sub(1); };
    may_block_.store(static_cast<int>(threads) - 1);
    cluster_.emplace(std::move(options));
    scheduler_ = cluster_->scheduler();
    closes_ = random.one_in(2);
    mode_ = random_mode(random);
    for (auto& part : parts_) {
      for (auto left = 1 + random.below(40); left > 0; --left)
        part.push_back(std::make_unique<Job>());
    }
  }

  // Closing, disturbing.

  static CloseMode random_mode(Random& random) {
    switch (random.below(4)) {
      case 0:
        return CloseMode::abort();
      case 1:
        return CloseMode::drain_until(std::chrono::steady_clock::now() +
                                      microseconds(random.below(300)));
      case 2:
        return {.kind = CloseMode::Kind::drain, .deadline = {}, .wait_for_delayed = true};
      default:
        return CloseMode::drain();
    }
  }
  void close(Random& random) {
    for (auto steps = random.below(60); steps > 0; --steps) dither(random);
    if (random.one_in(4)) return;  // the destructor closes it
    cluster_->close(mode_);
  }
  void disturb(Random& random) {
    for (auto turns = random.below(4); turns > 0; --turns) {
      scheduler_->suspend();
      dither(random);
      scheduler_->resume();
      static_cast<void>(never_.promise.wait_for(microseconds(random.below(200))));
    }
  }

  // Posting.

  void post_all(std::vector<std::unique_ptr<Job>>& jobs, Random& random) {
    for (auto& job : jobs) {
      PostTaskOptions options{.priority = priorities[random.below(3)]};
      if (random.one_in(6)) options.delay = microseconds(random.below(200));
      job->promise = post(*job, random, options);
      dither(random);
    }
  }
  Promise<int> post(Job& job, Random& random, const PostTaskOptions& options) {
    Random own(random());
    switch (random.below(4)) {
      case 0:
        return scheduler_->post_task(
            witnessed(job.callback, [this, own]() mutable { return turns(own); }), options);
      case 1:
        return scheduler_->post_task(
            witnessed(job.callback, [this, own]() mutable { return tree(own(), 4); }), options);
      default:
        return scheduler_->post_task(
            witnessed(job.callback, [this, own]() mutable { return step(own); }), options);
    }
  }

  // What tasks do.

  int step(Random& random) {
    if (random.one_in(4)) {
      Agent::current()->queue_task(TaskSource::io, [] { blocking([] {}); });
    }
    if (random.one_in(4)) blocking([&random] { dither(random); });
    return random.one_in(3) ? 0 : block_for_another(random);
  }
  /// Blocks until another task has ended, or a close has dropped it. It does not block if nobody
  /// would be left to run that task.
  int block_for_another(Random& random) {
    int result = 0;
    if (may_block_.fetch_sub(1) > 0) {
      auto other = scheduler_->post_task([random]() mutable {
        blocking([&random] { dither(random); });
        return 1;
      });
      blocked_.fetch_add(1);
      result = blocking([&other] { return other.wait_for(std::chrono::hours(1)) ? 1 : 0; });
    }
    may_block_.fetch_add(1);
    return result;
  }
  Promise<int> turns(Random random) {
    int sum = 0;
    for (auto left = random.below(5); left > 0; --left) {
      sum += step(random);
      if (random.one_in(2)) {
        co_await heist::yield();
      } else {
        co_await sleep_for(microseconds(random.below(100)));
      }
    }
    co_return sum;
  }
  Forkable<int> tree(std::uint64_t seed, int depth) {
    Random random(seed);
    if (depth == 0) co_return step(random);
    auto left = co_await fork(tree(random(), depth - 1));
    const int right = co_await tree(random(), depth - 1);
    co_await join();
    co_return left.value() + right;
  }

  // Judging.

  void judge(const Job& job) {
    check(job.callback.destroyed == 1, "I1: a callback was not destroyed exactly once");
    check(job.callback.runs <= 1, "I1: a task ran twice");
    check(job.promise->settled(), "I2: a promise never settled");
    ++(job.callback.runs == 1 ? counts_.ran : counts_.dropped);
  }

  std::optional<AgentCluster> cluster_;
  std::optional<Scheduler> scheduler_;
  bool closes_ = false;
  CloseMode mode_;
  PromiseWithResolver<void> never_ = Promise<void>::with_resolver();
  std::array<std::vector<std::unique_ptr<Job>>, posters> parts_;
  std::atomic<int> may_block_{0};  ///< how many more members may block
  std::atomic<unsigned> alive_{0};
  std::atomic<std::uint64_t> blocked_{0};
  std::atomic<std::uint64_t> reserve_threads_{0};
  Counts counts_;
  FlatMemory memory_;
  Crew crew_{1 + posters};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("cluster_blocking_stress", {argv, static_cast<std::size_t>(argc)});
  set_error_hook(
      [](ErrorOrigin, const Reason&) noexcept {});  // errors of coroutines that a close has ended
  BlockingStress stress;
  const auto is_enough = [&stress] {
    const Counts counts = stress.counts();
    return counts.ran > 0 && counts.dropped > 0 && counts.blocked > 0 && counts.threads > 0;
  };
  const auto rounds =
      run_rounds(options, [&stress](Random& random) { stress.round(random); }, is_enough);
  const Counts counts = stress.counts();
  std::printf("rounds %llu, ran %llu, dropped %llu, blocked %llu, threads of reserves %llu\n",
              printable(rounds), printable(counts.ran), printable(counts.dropped),
              printable(counts.blocked), printable(counts.threads));
  check(options.duration.count() == 0 || is_enough(), "one outcome of the race was never seen");
}
