// A cluster of one to eight agents. Threads outside and tasks inside post stealable and bound tasks
// of all levels. Tasks have signals or none, are delayed or not, and some are coroutines that yield
// and await across agents. Other threads abort and change priorities meanwhile, and in most rounds
// the cluster is closed or destroyed in the middle of it. Some priorities have a maximum wait
// (WAIT-6).
//
// I1  Every callback runs once at most and is destroyed exactly once, and so is every coroutine
//     frame (LIF-1).
// I2  Every promise settles.
// I3  A task that was posted before the call of a drain, without delay and without signal, runs.
// I4  Once an abort() has returned, no task of its signal starts on an agent that has picked since
//     (ABT-2).
// I5  In a round without a close everything comes to its end, although agents go to sleep again and
//     again (CLU-3, DLY-5).
// I6  However many tasks have come and gone, memory is flat.
#include <algorithm>
#include <array>
#include <chrono>
#include <heist/agent_cluster.hpp>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "support/cell.hpp"
#include "support/crew.hpp"
#include "support/facts.hpp"
#include "support/fence.hpp"
#include "support/flat_memory.hpp"
#include "support/stress_run.hpp"
#include "support/timeline.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;
using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::size_t posters = 2;
constexpr std::size_t signal_count = 3;
constexpr unsigned most_agents = 8;

/// One callback, and the jobs that it posts.
struct Job {
  Cell callback;
  Cell frame;  ///< its coroutine's
  std::optional<Promise<int>> promise;
  std::optional<std::size_t> signal;
  bool is_runnable = false;  ///< it has no delay and no signal
  Moment posted = never;     ///< when the post had returned
  std::array<std::unique_ptr<Job>, 2> children;
};

struct Counts {
  std::uint64_t ran = 0;
  std::uint64_t dropped = 0;
  std::uint64_t stolen = 0;
  std::uint64_t sleeps = 0;
};

/// Tells, by the count, whether its holder has gone.
class Alive {
 public:
  explicit Alive(sync::atomic<int>& count) : count_(&count) {
    count_->fetch_add(1, sync::relaxed);  // relaxed: a number.
  }
  Alive(Alive&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
  Alive& operator=(Alive&&) = delete;
  ~Alive() {
    if (count_ != nullptr) count_->fetch_sub(1, sync::relaxed);  // relaxed: as above.
  }

 private:
  sync::atomic<int>* count_;
};

/// The aborts that this agent knew of when its last task ended, which was before its next pick.
thread_local Facts<signal_count>::Mask known_here = 0;

class ClusterStress {
 public:
  void round(Random& random) {
    begin(random);
    const std::uint64_t seed = random();
    crew_.run([this, seed](std::size_t member) {
      Random own(seed + member);
      if (member == 0) return closes_ ? close(own) : disturb(own);
      if (member <= posters) return post_all(parts_[member - 1], own);
      disturb(own);
    });
    for (auto& controller : controllers_) controller->abort();
    if (!closes_) {
      // relaxed: a number; the close orders what was done.
      await([this] { return alive_.load(sync::relaxed) == 0; }, "I5: a task never came to its end");
    }
    count_stats();
    cluster_.reset();
    for (const auto& part : parts_) {
      for (const auto& job : part) judge(*job);
    }
    clear();
    memory_.look();
  }

  [[nodiscard]] Counts counts() const { return counts_; }

 private:
  static AgentClusterOptions random_options(Random& random) {
    AgentClusterOptions options;
    options.agents = 1 + static_cast<unsigned>(random.below(most_agents));
    options.loop.tick = microseconds(20);
    if (random.one_in(2)) options.loop.spin = options.loop.spin.zero();
    if (random.one_in(2)) options.loop.max_wait.background = milliseconds(1);
    if (random.one_in(2)) options.loop.max_wait.user_visible = milliseconds(1);
    return options;
  }

  void begin(Random& random) {
    cluster_.emplace(random_options(random));
    scheduler_ = cluster_->scheduler();
    for (unsigned i = 0; i < cluster_->size(); ++i)
      bound_.push_back(cluster_->agent(i).scheduler());
    for (auto& controller : controllers_) controller.emplace(priorities[random.below(3)]);
    for (auto& resolver : resolvers_) {
      auto pair = Promise<int>::with_resolver();
      gifts_.push_back(pair.promise);
      resolver.emplace(std::move(pair.resolver));
    }
    closes_ = !random.one_in(3);
    mode_ = random_mode(random);
    is_destroyed_ = closes_ && random.one_in(2);
    for (auto& part : parts_) {
      for (auto left = 1 + random.below(60); left > 0; --left)
        part.push_back(std::make_unique<Job>());
    }
  }
  void clear() {
    for (auto& part : parts_) part.clear();
    bound_.clear();
    gifts_.clear();
    scheduler_.reset();
    for (auto& resolver : resolvers_) resolver.reset();
    for (auto& controller : controllers_) controller.reset();
    aborted_.forget();
    close_called_ = never;
  }

  // Closing.

  static CloseMode random_mode(Random& random) {
    switch (random.below(4)) {
      case 0:
        return CloseMode::abort();
      case 1:
        return CloseMode::drain_until(Clock::now() + microseconds(random.below(200)));
      case 2:
        return {.kind = CloseMode::Kind::drain, .deadline = {}, .wait_for_delayed = true};
      default:
        return CloseMode::drain();
    }
  }
  void close(Random& random) {
    for (auto steps = random.below(60); steps > 0; --steps) dither(random);
    close_called_ = time_.mark();
    cluster_->close(mode_);
    check(!scheduler_->post([] {}), "a closed cluster accepted a task");
    if (!is_destroyed_) return;
    count_stats();
    cluster_.reset();
  }
  void count_stats() {
    if (!cluster_) return;
    counts_.stolen += cluster_->stats().stolen;
    counts_.sleeps += cluster_->stats().sleeps;
  }

  // Disturbing.

  void disturb(Random& random) {
    for (auto turns = random.below(40); turns > 0; --turns) {
      controllers_[random.below(signal_count)]->set_priority(priorities[random.below(3)]);
      if (random.one_in(8)) pause(random);
      dither(random);
    }
    if (closes_ || disturbers_done_.fetch_add(1, sync::relaxed) % 2 == 1)
      settle_all(random);  // relaxed: the last one.
  }
  /// Leaves nothing for which a drain might wait.
  void settle_all(Random& random) {
    for (auto& resolver : resolvers_) {
      resolver->resolve(1);
      dither(random);
    }
    for (std::size_t signal = 0; signal < signal_count; ++signal) {
      controllers_[signal]->abort(static_cast<int>(signal));
      aborted_.tell(signal);
      dither(random);
    }
  }
  /// Waits, often long enough for agents to fall asleep.
  void pause(Random& random) {
    static_cast<void>(never_.promise.wait_for(microseconds(random.below(150))));
  }

  // Posting.

  void post_all(std::vector<std::unique_ptr<Job>>& jobs, Random& random) {
    for (auto& job : jobs) {
      post(*job, random);
      if (random.one_in(10)) pause(random);
      dither(random);
    }
  }
  template <class Body>
  auto callback_of(Job& job, Body body) {
    return witnessed(job.callback,
                     [body = std::move(body), alive = Alive(alive_)]() mutable { return body(); });
  }
  /// Called by any thread.
  void post(Job& job, Random& random) {
    const Scheduler to = random.one_in(4) ? bound_[random.below(bound_.size())] : *scheduler_;
    const PostTaskOptions options = options_for(job, random);
    Random own(random());
    switch (random.below(6)) {
      case 0:
        to.post(callback_of(job, [this, &job] { work(job); }), options);
        break;
      case 1:
        job.promise = to.post_task(
            callback_of(job, [this, &job, own]() mutable { return parent(job, own); }), options);
        break;
      case 2:
      case 3:
        job.promise = to.post_task(
            callback_of(job, [this, &job,
                              own] { return turns(job, own, Witness(job.frame), Alive(alive_)); }),
            options);
        break;
      default:
        job.promise = to.post_task(callback_of(job, [this, &job] { return work(job); }), options);
    }
    job.posted = time_.mark();
  }
  PostTaskOptions options_for(Job& job, Random& random) {
    PostTaskOptions options;
    if (random.one_in(2)) options.priority = priorities[random.below(3)];
    if (random.one_in(2)) {
      job.signal = random.below(signal_count);
      const auto signal = controllers_[*job.signal]->signal();
      options.signal = random.one_in(4) ? TaskSignal::any({signal}, signal) : signal;
    }
    if (random.one_in(5)) options.delay = microseconds(random.below(150));
    if (job.signal && random.one_in(6)) options.delay = std::chrono::hours(1);
    job.is_runnable = !job.signal && options.delay.is_zero();
    return options;
  }

  // What tasks do.

  int work(Job& job) {
    check(!job.signal || ((known_here >> *job.signal) & 1U) == 0,
          "I4: a task started after its abort had returned");
    const volatile int steps = static_cast<int>(reinterpret_cast<std::uintptr_t>(&job) >> 6 & 255);
    for (int i = 0; i < steps; ++i) {
    }
    known_here = aborted_.known();
    return 1;
  }
  int parent(Job& job, Random& random) {
    for (auto& child : job.children) {
      child = std::make_unique<Job>();
      post(*child, random);
    }
    return work(job);
  }
  Promise<int> turns(Job& job, Random random, Witness witness, Alive /*alive*/) {
    ++witness.cell().runs;
    int sum = work(job);
    for (auto left = random.below(8); left > 0; --left) {
      switch (random.below(6)) {
        case 0:
          sum += co_await gifts_[random.below(gifts_.size())];
          break;
        case 1: {
          const auto one = bound_[random.below(bound_.size())].post_task([] { return 1; });
          sum += co_await one;
          break;
        }
        case 2: {
          const auto one = scheduler_->post_task([] { return 1; });
          sum += co_await one;
          break;
        }
        case 3:
          co_await sleep_for(microseconds(random.below(100)),
                             controllers_[random.below(signal_count)]->signal());
          break;
        case 4:
          co_await heist::yield(YieldOptions(controllers_[random.below(signal_count)]->signal()));
          break;
        default:
          co_await heist::yield();
      }
      known_here = aborted_.known();
    }
    co_return sum;
  }

  // Judging.

  void judge(const Job& job) {
    check(job.callback.destroyed == 1, "I1: a callback was not destroyed exactly once");
    check(job.callback.runs <= 1, "I1: a task ran twice");
    check(job.frame.destroyed == job.frame.runs && job.frame.runs <= 1,
          "I1: a frame was not destroyed exactly once");
    check(!job.promise || job.promise->wait_for(std::chrono::seconds(60)),
          "I2: a promise never settled");
    const bool drained = mode_.kind == CloseMode::Kind::drain && !mode_.deadline;
    const bool must_run = job.is_runnable && (!closes_ || (drained && job.posted < close_called_));
    check(!must_run || job.callback.runs == 1, "I3: a runnable task was dropped");
    ++(job.callback.runs == 1 ? counts_.ran : counts_.dropped);
    for (const auto& child : job.children) {
      if (child) judge(*child);
    }
  }

  Timeline time_;
  std::optional<AgentCluster> cluster_;
  std::optional<Scheduler> scheduler_;
  std::vector<Scheduler> bound_;
  std::array<std::optional<TaskController>, signal_count> controllers_;
  std::array<std::optional<Resolver<int>>, 2> resolvers_;
  std::vector<Promise<int>> gifts_;
  PromiseWithResolver<void> never_ = Promise<void>::with_resolver();
  bool closes_ = false;
  bool is_destroyed_ = false;  ///< the closer destroys the cluster in the middle of the round
  CloseMode mode_;
  Moment close_called_ = never;
  std::array<std::vector<std::unique_ptr<Job>>, posters> parts_;
  Facts<signal_count> aborted_;
  sync::atomic<int> alive_{0};
  sync::atomic<unsigned> disturbers_done_{0};
  Counts counts_;
  FlatMemory memory_;
  Crew crew_{2 + posters};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("cluster_stress", {argv, static_cast<std::size_t>(argc)});
  set_error_hook(
      [](ErrorOrigin, const Reason&) noexcept {});  // errors of coroutines that an abort has ended
  ClusterStress stress;
  const auto is_enough = [&stress] {
    const Counts counts = stress.counts();
    return counts.ran > 0 && counts.dropped > 0 && counts.sleeps > 0;
  };
  const auto rounds =
      run_rounds(options, [&stress](Random& random) { stress.round(random); }, is_enough);
  const Counts counts = stress.counts();
  std::printf("rounds %llu, ran %llu, dropped %llu, stolen %llu, sleeps %llu\n", printable(rounds),
              printable(counts.ran), printable(counts.dropped), printable(counts.stolen),
              printable(counts.sleeps));
  check(options.duration.count() == 0 || is_enough(), "one outcome of the race was never seen");
}
