// Aborts tasks in great numbers while more urgent tasks keep all agents busy. It looks at the
// memory that the aborted tasks hold, and at the tasks that they hold up.
//
// I1  When tasks are posted through a bounded scheduler and aborted, they hold no more memory than
//     a fixed number of them needs, although no agent comes to their level (LIF-5, ABT-5).
// I2  When a great number of tasks is aborted, no pick takes a millisecond of its agent's time
//     (ABT-4). A delay starts at the first or second pick after it is due, or after a millisecond
//     of other tasks at the latest (DLY-1). This holds for runnable and delayed tasks and for those
//     that a suspended scheduler holds back, bound or stealable, of one signal or of many.
// I3  Time limits that are made and dropped at a steady rate hold no more than a fixed amount of
//     memory, however long tasks are, and so however seldom agents pick (ABT-5).
//
// A pick is measured in processor time of its thread, so that what the system runs in between does
// not count. A case fails only if a pick is too long in each of three attempts, because a pick
// whose time grows with the number of tasks is too long every time. Each round runs the next case.
// I1 is measured in a process of its own, where other cases have left no free memory.
// `--tasks N` says how many tasks are aborted at once, `--case N` runs only this case, and
// `--part lateness` and `--part memory` run only that part.
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heist/memory/node_pool.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

constexpr unsigned agents = 2;
constexpr nanoseconds task_length = 50us;
constexpr nanoseconds tick = 1ms;

#if defined(HEIST_SANITIZER_ADDRESS) || defined(HEIST_SANITIZER_THREAD)
constexpr bool is_sanitized = true;  // agents are slowed down, clocks are not
constexpr std::uint64_t default_tasks = 20'000;
constexpr int bounded_posts = 10'000;
constexpr nanoseconds longest_pick = 50ms;
#else
constexpr bool is_sanitized = false;
constexpr std::uint64_t default_tasks = 1'000'000;
constexpr int bounded_posts = 100'000;
constexpr nanoseconds longest_pick = 1ms;
#endif
/// How much the pool's memory may grow, in chunks of 512 KiB. With AddressSanitizer each node
/// counts as one.
#if defined(HEIST_SANITIZER_ADDRESS)
constexpr std::int64_t most_memory = 20'000;
#else
constexpr std::int64_t most_memory = 16;
#endif

nanoseconds time_of_this_thread() {
  timespec now{};
  check(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0, "this thread has no clock");
  return std::chrono::seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
}

/// How much the pool has got from the system. It asks for nothing while it has something free, so
/// only in a process where nothing was free before does it grow by what is needed at one time.
std::int64_t pool_memory() {
#if defined(HEIST_SANITIZER_ADDRESS)
  const auto stats = node_pool_stats();
  return static_cast<std::int64_t>(stats.backing_allocations - stats.backing_releases);
#else
  return static_cast<std::int64_t>(node_pool_stats().backing_allocations);
#endif
}

/// Makes each agent run one short urgent task after another. The time between two of them is that
/// of a pick.
class Load {
 public:
  explicit Load(AgentCluster& cluster) : cluster_(cluster) {
    for (unsigned agent = 0; agent < agents; ++agent) {
      of_[agent].scheduler = cluster.agent(agent).scheduler();
      go_on(of_[agent]);
    }
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  ~Load() {
    ends_.store(true, sync::release);
    for (auto& agent : of_) {
      await([&] { return agent.has_ended.load(sync::acquire); }, "the load goes on");
    }
  }
  /// The measurement counts picks from now on.
  void begin_measure() {
    for (auto& agent : of_) {
      agent.scheduler->post_task([&agent] { agent.longest = {}; }, {.priority = urgent}).get();
    }
  }
  /// The longest pick since begin_measure().
  [[nodiscard]] nanoseconds longest_pick() {
    nanoseconds longest{};
    for (auto& agent : of_) {
      longest = std::max(
          longest,
          agent.scheduler->post_task([&agent] { return agent.longest; }, {.priority = urgent})
              .get());
    }
    return longest;
  }
  /// Called in a task on an agent of the cluster: how many tasks of the load have begun on this
  /// agent since `then`.
  [[nodiscard]] std::uint64_t begun_here_since(Clock::time_point then) const {
    for (unsigned agent = 0; agent < agents; ++agent) {
      if (Agent::current() == &cluster_.agent(agent)) return of_[agent].begun_since(then);
    }
    return 0;
  }

 private:
  static constexpr auto urgent = TaskPriority::user_visible;
  struct OfAgent {
    std::optional<Scheduler> scheduler;
    nanoseconds last_end{};
    nanoseconds longest{};
    std::array<Clock::time_point, 4096> begins{};
    std::uint64_t begun = 0;
    sync::atomic<bool> has_ended{false};

    [[nodiscard]] std::uint64_t begun_since(Clock::time_point then) const {
      std::uint64_t count = 0;
      while (count < begun && count < begins.size() &&
             begins[(begun - 1 - count) % begins.size()] >= then) {
        ++count;
      }
      return count;
    }
  };

  void go_on(OfAgent& agent) {
    agent.scheduler->post([this, &agent] { run(agent); }, {.priority = urgent});
  }
  void run(OfAgent& agent) {
    const auto begin = time_of_this_thread();
    if (agent.begun != 0) agent.longest = std::max(agent.longest, begin - agent.last_end);
    agent.begins[agent.begun++ % agent.begins.size()] = Clock::now();
    while (time_of_this_thread() - begin < task_length) {
    }
    if (ends_.load(sync::acquire)) {
      agent.has_ended.store(true, sync::release);
      return;
    }
    go_on(agent);
    agent.last_end = time_of_this_thread();
  }

  AgentCluster& cluster_;
  std::array<OfAgent, agents> of_;
  sync::atomic<bool> ends_{false};
};

/// Arms one short delay after another.
class Delays {
 public:
  Delays(const Load& load, Scheduler scheduler) : load_(load), scheduler_(std::move(scheduler)) {
    arm();
  }
  Delays(const Delays&) = delete;
  Delays& operator=(const Delays&) = delete;
  ~Delays() {
    ends_.store(true, sync::release);
    await([&] { return has_ended_.load(sync::acquire); }, "a delay does not end");
  }
  void begin_measure() { measures_.store(true, sync::release); }
  /// How many tasks of the load began, at most, between the end of a delay and its start, on the
  /// agent where it started.   Precondition: end() has returned.
  [[nodiscard]] std::uint64_t most_before() const {
    return before_.empty() ? 0 : *std::ranges::max_element(before_);
  }
  void end() {
    ends_.store(true, sync::release);
    await([&] { return has_ended_.load(sync::acquire); }, "a delay does not end");
  }

 private:
  void arm() {
    due_ = Clock::now() + 2 * tick;  // the delay is rounded up
    scheduler_.post([this] { start(); }, {.priority = TaskPriority::user_blocking, .delay = tick});
  }
  void start() {
    if (measures_.load(sync::acquire)) before_.push_back(load_.begun_here_since(due_));
    ends_.load(sync::acquire) ? has_ended_.store(true, sync::release) : arm();
  }

  const Load& load_;
  Scheduler scheduler_;
  Clock::time_point due_;
  std::vector<std::uint64_t> before_;
  sync::atomic<bool> measures_{false};
  sync::atomic<bool> ends_{false};
  sync::atomic<bool> has_ended_{false};
};

/// Which signals the aborted tasks have.
enum class Signals : std::uint8_t { one, many, dynamic_one, dynamic_many, following };
constexpr std::array all_signals{Signals::one, Signals::many, Signals::dynamic_one,
                                 Signals::dynamic_many, Signals::following};

std::string_view name_of(Signals signals) {
  constexpr std::array<std::string_view, 5> names{"one signal", "many signals", "one TaskSignal",
                                                  "many TaskSignals", "many that follow one"};
  return names[static_cast<std::size_t>(signals)];
}

/// Signals of one kind, and how a task is posted with one of them.
class Aborts {
 public:
  explicit Aborts(Signals kind, TaskPriority priority = TaskPriority::background)
      : kind_(kind), priority_(priority), root_(priority) {}

  [[nodiscard]] PostTaskOptions next() {
    const bool is_of_one = kind_ == Signals::one || kind_ == Signals::dynamic_one;
    if (controllers_.empty() || !is_of_one)
      controllers_.push_back(std::make_unique<TaskController>(priority_));
    const TaskSignal own = controllers_.back()->signal();
    if (kind_ == Signals::following) return {.signal = TaskSignal::any({own}, root_.signal())};
    if (kind_ == Signals::dynamic_one || kind_ == Signals::dynamic_many) return {.signal = own};
    return {.signal = own, .priority = priority_};
  }
  void abort_all() {
    for (const auto& controller : controllers_) controller->abort();
    controllers_.clear();
  }
  [[nodiscard]] TaskSignal root() const { return root_.signal(); }

 private:
  const Signals kind_;
  const TaskPriority priority_;
  TaskController root_;
  std::vector<std::unique_ptr<TaskController>> controllers_;
};

/// Counts how many of these objects there are.
class Alive {
 public:
  explicit Alive(sync::atomic<std::int64_t>& count) : count_(&count) {
    count_->fetch_add(1, sync::relaxed);  // relaxed: a number.
  }
  Alive(Alive&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
  Alive& operator=(Alive&&) = delete;
  ~Alive() {
    if (count_ != nullptr) count_->fetch_sub(1, sync::release);
  }

 private:
  sync::atomic<std::int64_t>* count_;
};

/// To be called in a process where nothing of this kind was done before.
void measure_memory(Signals kind) {
  AgentCluster cluster({.agents = agents});
  const Load load(cluster);
  const BoundedScheduler bounded(cluster.scheduler(), 100);
  Aborts aborts(kind);
  // Nobody comes to these tasks, which stand in front of all that follow.
  cluster.scheduler().post([] {}, {.priority = TaskPriority::background});
  cluster.scheduler().post([] {}, {.signal = aborts.root()});
  const auto before = pool_memory();
  std::int64_t most = before;
  for (int posted = 0; posted < bounded_posts;) {
    if (bounded.post([] {}, aborts.next()) == PostResult::posted) ++posted;
    aborts.abort_all();
    most = std::max(most, pool_memory());
  }
  std::printf("%.*s: %d posted and aborted, memory %lld -> %lld\n",
              static_cast<int>(name_of(kind).size()), name_of(kind).data(), bounded_posts,
              static_cast<long long>(before), static_cast<long long>(most));
  std::fflush(stdout);
  check(most <= before + most_memory, "I1: aborted tasks keep their memory");
}

/// Runs this program again, for one measurement.
void run_alone(const char* part, std::size_t index) {
  std::string program = "/proc/self/exe";
  std::array<std::string, 7> words{"aborted_stress",      "--part",    part, "--case",
                                   std::to_string(index), "--seconds", "0"};
  std::array<char*, 8> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  pid_t child = 0;
  check(posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments.data(), environ) == 0,
        "there is no process");
  int status = 0;
  check(waitpid(child, &status, 0) == child, "the process is lost");
  check(WIFEXITED(status), "I1: see above");
  // A sanitizer that has reported something ends the process with a status of its own.
  if (WEXITSTATUS(status) != 0) std::_Exit(WEXITSTATUS(status));
}

/// Runs one task of ten milliseconds after another, until it is told to end.
class LongTasks {
 public:
  explicit LongTasks(Scheduler scheduler) : scheduler_(std::move(scheduler)) { go_on(); }
  LongTasks(const LongTasks&) = delete;
  LongTasks& operator=(const LongTasks&) = delete;
  ~LongTasks() {
    ends_.store(true, sync::release);
    await([&] { return has_ended_.load(sync::acquire); }, "a long task does not end");
  }

 private:
  void go_on() {
    scheduler_.post([this] { run(); }, {.priority = TaskPriority::user_blocking});
  }
  void run() {
    const auto end = Clock::now() + 10ms;
    while (Clock::now() < end && !ends_.load(sync::acquire)) {
    }
    ends_.load(sync::acquire) ? has_ended_.store(true, sync::release) : go_on();
  }

  Scheduler scheduler_;
  sync::atomic<bool> ends_{false};
  sync::atomic<bool> has_ended_{false};
};

void measure_dropped_limits() {
  constexpr int rounds = 1000;
  constexpr int limits_a_round = 100;
  AgentCluster cluster({.agents = agents});
  const LongTasks first(cluster.scheduler());
  const LongTasks second(cluster.scheduler());
  const auto before = pool_memory();
  auto next = Clock::now();
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < limits_a_round; ++i) {
      static_cast<void>(AbortSignal::timeout(cluster.scheduler(), 1h));
    }
    next += 1ms;
    while (Clock::now() < next) {
    }
  }
  const auto most = pool_memory();
  std::printf("%d limits made and dropped, memory %lld -> %lld\n", rounds * limits_a_round,
              static_cast<long long>(before), static_cast<long long>(most));
  std::fflush(stdout);
  check(most <= before + most_memory, "I3: dropped time limits keep their memory");
}

double milliseconds_of(nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

/// Where tasks are when they are aborted.
enum class Wait : std::uint8_t { runnable, delayed, held };

std::string_view name_of(Wait wait) {
  constexpr std::array<std::string_view, 3> names{"runnable", "delayed", "held"};
  return names[static_cast<std::size_t>(wait)];
}

struct Case {
  Signals signals;
  bool is_bound;
  Wait wait;
  std::uint64_t tasks;
};

struct Lateness {
  nanoseconds longest_pick;
  std::uint64_t before_bound;      ///< tasks that began before a bound delay that was due
  std::uint64_t before_stealable;  ///< the same for a stealable delay
};

Lateness measure_lateness(const Case& of) {
  AgentCluster cluster({.agents = agents});
  Load load(cluster);
  const bool are_held = of.wait == Wait::held;
  const Scheduler scheduler = of.is_bound ? cluster.agent(0).scheduler() : cluster.scheduler();
  Delays bound(load, cluster.agent(0).scheduler());
  // Delays of a suspended scheduler would wait.
  Delays stealable(load, are_held ? cluster.agent(1).scheduler() : cluster.scheduler());
  // Agents hold back only tasks to which they come, so these have to be urgent.
  Aborts aborts(of.signals, are_held ? TaskPriority::user_blocking : TaskPriority::background);
  sync::atomic<std::int64_t> alive{0};
  if (are_held) scheduler.suspend();
  for (std::uint64_t i = 0; i < of.tasks; ++i) {
    auto options = aborts.next();
    if (of.wait == Wait::delayed) options.delay = 1h;
    scheduler.post([own = Alive(alive)] {}, options);
  }
  load.begin_measure();  // its tasks come behind those that are to be held back
  bound.begin_measure();
  stealable.begin_measure();
  aborts.abort_all();
  await([&] { return alive.load(sync::acquire) <= 0; }, "aborted callbacks stay");
  const auto longest = load.longest_pick();
  bound.end();
  stealable.end();
  if (are_held) scheduler.resume();
  return {longest, bound.most_before(), stealable.most_before()};
}

void print(const Case& of, const Lateness& lateness) {
  const auto name = name_of(of.signals);
  std::printf(
      "%llu %s %s, %.*s: longest pick %.3f ms, before a bound delay %llu tasks, a stealable %llu\n",
      printable(of.tasks), of.is_bound ? "bound" : "stealable", name_of(of.wait).data(),
      static_cast<int>(name.size()), name.data(), milliseconds_of(lateness.longest_pick),
      printable(lateness.before_bound), printable(lateness.before_stealable));
  std::fflush(stdout);
}

void test_lateness(const Case& of) {
  constexpr int attempts = 3;
  const auto most = static_cast<std::uint64_t>(longest_pick / task_length);
  for (int attempt = 1;; ++attempt) {
    const auto lateness = measure_lateness(of);
    print(of, lateness);
    const bool is_last = attempt == attempts;
    const bool is_short = lateness.longest_pick <= longest_pick;
    const bool is_in_time = lateness.before_bound <= most && lateness.before_stealable <= most;
    if (is_short && is_in_time) return;
    check(!is_last || is_short, "I2: a pick takes long, each time");
    check(!is_last || is_in_time, "I2: a delay is late, each time");
  }
}

/// All cases. The load has bound tasks too. Tasks that are held back are always stealable.
std::vector<Case> all_cases(std::uint64_t tasks) {
  std::vector<Case> cases;
  for (const Signals signals : all_signals) {
    for (const Wait wait : {Wait::runnable, Wait::delayed, Wait::held}) {
      for (const bool is_bound : {false, true}) {
        if (wait != Wait::held || !is_bound) cases.push_back({signals, is_bound, wait, tasks});
      }
    }
  }
  return cases;
}

}  // namespace

int main(int argc, char** argv) {
  std::string_view tasks_text;
  std::string_view part;
  std::string_view case_text;
  const auto options = parse("aborted_stress", {argv, static_cast<std::size_t>(argc)},
                             {{"--tasks", &tasks_text}, {"--part", &part}, {"--case", &case_text}});
  const auto tasks = tasks_text.empty() ? default_tasks : number_of("--tasks", tasks_text);
  const auto only = case_text.empty() ? 0 : number_of("--case", case_text);
  if (part == "own memory") {
    measure_memory(all_signals[only % all_signals.size()]);
    return 0;
  }
  if (part == "own dropped limits") {
    measure_dropped_limits();
    return 0;
  }
  if (!is_sanitized && part != "lateness") run_alone("own dropped limits", 0);
  const auto cases = all_cases(tasks);
  // Each short run begins with another case. A long run comes to all cases.
  std::uint64_t next = case_text.empty() ? options.seed : only;
  const auto rounds = run_rounds(options, [&](Random& /*random*/) {
    if (part != "lateness") run_alone("own memory", next % all_signals.size());
    if (part != "memory") test_lateness(cases[next % cases.size()]);
    if (case_text.empty()) ++next;
  });
  std::printf("rounds %llu, of %zu cases\n", printable(rounds), cases.size());
}
