// Time limits of signals on an agent and on a cluster of two that are kept busy in every way:
// coroutines that yield, chains of posts, reactions to another agent's promises, at each priority.
//
// I1  A limit never aborts early (DLY-1).
// I2  It is late by a tick and what is running at the most (DLY-6): the time from one beginning of
//     some work on an agent to the next one, in a cluster once for each agent. What the system kept
//     the agents waiting for a CPU is not theirs.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <heist/heist.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::stress;
using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds tick(1);
constexpr microseconds work(200);
constexpr milliseconds shortest(2);

enum class Load : std::uint8_t { yields, posts, reactions };

struct Case {
  const char* name;
  bool on_cluster;
  Load load;
  unsigned chains;
  TaskPriority priority;
};
constexpr std::array cases{
    Case{"agent, 1 yields, user-visible", false, Load::yields, 1, TaskPriority::user_visible},
    Case{"agent, 4 yield, user-visible", false, Load::yields, 4, TaskPriority::user_visible},
    Case{"agent, 4 yield, user-blocking", false, Load::yields, 4, TaskPriority::user_blocking},
    Case{"agent, 4 yield, background", false, Load::yields, 4, TaskPriority::background},
    Case{"agent, 4 post, user-blocking", false, Load::posts, 4, TaskPriority::user_blocking},
    Case{"agent, 4 react, user-visible", false, Load::reactions, 4, TaskPriority::user_visible},
    Case{"cluster, 4 yield, user-visible", true, Load::yields, 4, TaskPriority::user_visible},
    Case{"cluster, 4 yield, user-blocking", true, Load::yields, 4, TaskPriority::user_blocking},
    Case{"cluster, 4 yield, background", true, Load::yields, 4, TaskPriority::background},
    Case{"cluster, 4 post, user-blocking", true, Load::posts, 4, TaskPriority::user_blocking},
    Case{"cluster, 4 react, user-visible", true, Load::reactions, 4, TaskPriority::user_visible},
};

/// The longest time from one beginning of some work on a thread to its next one.   Thread: any.
class LongestGap {
 public:
  void restart() {
    longest_.store(nanoseconds::zero());
    ++round_;
  }
  Clock::time_point note_begin() {
    const auto now = Clock::now();
    const auto round = round_.load();
    if (std::exchange(round_here, round) == round) raise_to(now - last_here);
    last_here = now;
    return now;
  }
  [[nodiscard]] nanoseconds longest() const { return longest_.load(); }

 private:
  void raise_to(nanoseconds gap) {
    auto seen = longest_.load();
    while (seen < gap && !longest_.compare_exchange_weak(seen, gap)) {
    }
  }
  static thread_local Clock::time_point last_here;
  static thread_local std::uint64_t round_here;
  std::atomic<nanoseconds> longest_{};
  std::atomic<std::uint64_t> round_{0};
};
thread_local Clock::time_point LongestGap::last_here;
thread_local std::uint64_t LongestGap::round_here = 0;

/// How long the system has let agents wait for a CPU.
class CpuWaits {
 public:
  explicit CpuWaits(const std::vector<Scheduler>& agents) : agents_(agents) {
    for (const Scheduler& agent : agents_) {
      const auto id = agent.post_task([] { return ::gettid(); }).get();
      files_.push_back("/proc/self/task/" + std::to_string(id) + "/schedstat");
    }
  }
  /// In all, by the time at which each of them has run a task.
  [[nodiscard]] nanoseconds sum() const {
    nanoseconds sum{};
    for (std::size_t i = 0; i < agents_.size(); ++i) {
      agents_[i].post_task([] {}, {.priority = TaskPriority::background}).get();
      std::ifstream file(files_[i]);
      std::int64_t ran = 0;
      std::int64_t waited = 0;
      check(static_cast<bool>(file >> ran >> waited), "the system keeps no schedstat");
      sum += nanoseconds(waited);
    }
    return sum;
  }

 private:
  std::vector<Scheduler> agents_;
  std::vector<std::string> files_;
};

struct Figures {
  std::uint64_t rounds = 0;
  nanoseconds latest{};
  nanoseconds longest_gap{};
};

class TimeLimitStress {
 public:
  void round(Random& random) {
    const std::size_t chosen = rounds_++ % cases.size();
    const Case& now = cases[chosen];
    const Scheduler scheduler = now.on_cluster ? cluster_.scheduler() : agent_.scheduler();
    const CpuWaits& waits = now.on_cluster ? waits_of_cluster_ : waits_of_agent_;
    const auto waited_before = waits.sum();
    gap_.restart();
    is_over_ = false;
    std::vector<Promise<void>> chains;
    for (unsigned i = 0; i < now.chains; ++i) chains.push_back(begin_chain(now, scheduler));
    const microseconds length = shortest + microseconds(random.below(5000));
    const auto before = Clock::now();
    const auto signal = AbortSignal::timeout(scheduler, length);
    const auto after = Clock::now();
    Clock::time_point aborted_at;
    const auto subscription = signal.on_abort([&] {
      aborted_at = gap_.note_begin();
      is_over_ = true;
    });
    await([this] { return is_over_.load(); }, "I2: it never aborts");
    for (const auto& chain : chains) {
      check(chain.wait_for(patience), "a chain never ends");
    }
    check(aborted_at - before >= length, "I1: early");
    judge(now, figures_[chosen], aborted_at - after - length - (waits.sum() - waited_before));
  }

  void print() const {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const Figures& seen = figures_[i];
      std::printf("%-33s %6llu rounds, late by %7.1f us at the most, longest gap %7.1f us\n",
                  cases[i].name, static_cast<unsigned long long>(seen.rounds),
                  in_microseconds(seen.latest), in_microseconds(seen.longest_gap));
    }
  }

 private:
  static double in_microseconds(nanoseconds time) {
    return std::chrono::duration<double, std::micro>(time).count();
  }

  void judge(const Case& now, Figures& seen, nanoseconds late) {
    ++seen.rounds;
    seen.latest = std::max(seen.latest, late);
    seen.longest_gap = std::max(seen.longest_gap, gap_.longest());
    // Reactions that are ready together run one after another, before the next pick.
    const unsigned at_once = now.load == Load::reactions ? now.chains : 1;
    const unsigned agents = now.on_cluster ? 2 : 1;
    check(late <= tick + at_once * agents * gap_.longest(), "I2: late");
  }

  Promise<void> begin_chain(const Case& now, const Scheduler& scheduler) {
    switch (now.load) {
      case Load::yields:
        return scheduler.post_task([this] { return yield_on(); }, {.priority = now.priority});
      case Load::reactions:
        return scheduler.post_task([this] { return react_on(); }, {.priority = now.priority});
      case Load::posts:
        break;
    }
    auto ended = Promise<void>::with_resolver();
    auto resolver = std::make_shared<Resolver<void>>(std::move(ended.resolver));
    post_on(scheduler, now.priority, resolver);
    return ended.promise;
  }
  void do_some_work() {
    const auto begin = gap_.note_begin();
    while (Clock::now() - begin < work) {
    }
  }
  Promise<void> yield_on() {
    while (!is_over_) {
      do_some_work();
      co_await heist::yield();
    }
  }
  Promise<void> react_on() {
    while (!is_over_) {
      // Not settled yet when it is awaited: else the reaction would be a part of what runs here
      // now.
      auto answer = other_.scheduler().post_task([] {}, {.delay = tick});
      co_await answer;
      do_some_work();
    }
  }
  void post_on(const Scheduler& scheduler, TaskPriority priority,
               const std::shared_ptr<Resolver<void>>& resolver) {
    if (is_over_) return resolver->resolve();
    scheduler.post(
        [this, scheduler, priority, resolver] {
          do_some_work();
          post_on(scheduler, priority, resolver);
        },
        {.priority = priority});
  }

  LongestGap gap_;
  std::atomic<bool> is_over_{false};
  std::array<Figures, cases.size()> figures_{};
  std::uint64_t rounds_ = 0;
  Agent other_;
  Agent agent_;
  AgentCluster cluster_{{.agents = 2}};
  CpuWaits waits_of_agent_{{agent_.scheduler(), other_.scheduler()}};
  CpuWaits waits_of_cluster_{
      {cluster_.agent(0).scheduler(), cluster_.agent(1).scheduler(), other_.scheduler()}};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("time_limit_stress", {argv, static_cast<std::size_t>(argc)});
  TimeLimitStress stress;
  const auto rounds = run_rounds(options, [&stress](Random& random) { stress.round(random); });
  stress.print();
  check(rounds >= cases.size(), "not every case was there");
}
