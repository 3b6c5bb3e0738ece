// What an agent cluster's tasks cost in shared cache lines, by the number of agents
// (docs/scaling.md).
//
// usage: heist_cluster_counts    writes a table: for each task, read-modify-writes of lines that
//                                several threads touch, lines taken from another thread's cache,
//                                and how many of the latter were one and the same, the busiest
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace {

using namespace heist;
using namespace heist::detail;

constexpr std::uint64_t tasks = 100'000;

/// Until so many tasks have run.
class Ended {
 public:
  void one() noexcept {
    if (left_.fetch_sub(1) == 1) left_.notify_all();
  }
  void wait() const noexcept {
    for (auto left = left_.load(); left != 0; left = left_.load()) left_.wait(left);
  }

 private:
  std::atomic<std::uint64_t> left_{tasks};
};

/// Agents that are kept in a task meanwhile: those that look for tasks faster than they come would
/// be counted, too.
class Held {
 public:
  explicit Held(const AgentCluster& cluster) {
    for (unsigned agent = 0; agent < cluster.size(); ++agent) {
      cluster.agent(agent).scheduler().post([state = state_] {
        state->held.fetch_add(1);
        state->held.notify_all();
        state->is_over.wait(false);
      });
    }
    auto& held = state_->held;
    for (auto now = held.load(); now != cluster.size(); now = held.load()) held.wait(now);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    state_->is_over = true;
    state_->is_over.notify_all();
  }

 private:
  struct State {
    std::atomic<unsigned> held{0};
    std::atomic<bool> is_over{false};
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

void from_outside(const AgentCluster& cluster, const PostTaskOptions& options) {
  Ended ended;
  std::optional<Held> held(std::in_place, cluster);
  for (std::uint64_t i = 0; i < tasks; ++i) {
    cluster.scheduler().post([&] { ended.one(); }, options);
  }
  held.reset();
  ended.wait();
}
void post(const AgentCluster& cluster) { from_outside(cluster, {}); }
void post_with_signal(const AgentCluster& cluster) {
  const TaskController controller;
  from_outside(cluster, {.signal = controller.signal()});
}
/// The first task posts all others.
void fan_out(const AgentCluster& cluster) {
  Ended ended;
  cluster.scheduler().post([&] {
    for (std::uint64_t i = 0; i < tasks; ++i) cluster.scheduler().post([&] { ended.one(); });
  });
  ended.wait();
}

/// Posts through a handle that all tasks share.
struct KeptHandle {
  explicit KeptHandle(const Scheduler& of_all) : scheduler(&of_all) {}
  const Scheduler* scheduler;
  [[nodiscard]] const Scheduler& get() const noexcept { return *scheduler; }
};
/// Posts through a handle of its own.
struct OwnHandle {
  explicit OwnHandle(const Scheduler& /*of_all*/) {}
  [[nodiscard]] Scheduler get() const noexcept { return *Scheduler::current(); }
};

template <class Handle>
struct Link {
  Handle handle;
  Ended& ended;
  std::uint64_t left;
  void operator()() const {
    ended.one();
    if (left > 1) handle.get().post(Link{handle, ended, left - 1});
  }
};
/// Two chains for each agent: each task posts the next.
template <class Handle>
void chains(const AgentCluster& cluster) {
  const Scheduler scheduler = cluster.scheduler();
  Ended ended;
  const std::uint64_t count = 2 * std::uint64_t{cluster.size()};
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t length = tasks / count + (i < tasks % count ? 1 : 0);
    scheduler.post(Link<Handle>{Handle(scheduler), ended, length});
  }
  ended.wait();
}

/// Two coroutines for each agent.
void yields(const AgentCluster& cluster) {
  Ended ended;
  std::vector<Promise<void>> turns;
  const std::uint64_t count = 2 * std::uint64_t{cluster.size()};
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t length = tasks / count + (i < tasks % count ? 1 : 0);
    turns.push_back(cluster.scheduler().post_task([&ended, length]() -> Promise<void> {
      for (std::uint64_t left = length; left > 0; --left) {
        co_await yield();
        ended.one();
      }
    }));
  }
  ended.wait();
  for (const auto& turn : turns) turn.get();
}

/// Changes of a signal's priority while it has queued tasks; none of them runs meanwhile.
void set_priority(const AgentCluster& cluster) {
  TaskController controller(TaskPriority::background);
  const Held held(cluster);
  for (int i = 0; i < 1000; ++i) cluster.scheduler().post([] {}, {.signal = controller.signal()});
  for (std::uint64_t i = 0; i < tasks; ++i) {
    controller.set_priority(i % 2 == 0 ? TaskPriority::user_visible : TaskPriority::background);
  }
}

struct Operation {
  const char* name;
  std::function<void(const AgentCluster&)> run;
};

void measure(const Operation& operation, unsigned agents) {
  const AgentCluster cluster({.agents = agents});
  counted::line_table.forget_busiest();
  const auto before = counted::line_table.counts();
  operation.run(cluster);
  const auto after = counted::line_table.counts();
  const auto each = [](std::uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(tasks);
  };
  std::printf("%s\t%u\t%.3f\t%.3f\t%.3f\n", operation.name, agents,
              each(after.shared_updates - before.shared_updates),
              each(after.remote_lines - before.remote_lines),
              each(counted::line_table.remote_of_busiest()));
  std::fflush(stdout);
}

}  // namespace

int main() {
  std::puts("operation\tagents\tshared RMWs\tremote lines\tbusiest line");
  for (const Operation& operation :
       {Operation{"post from outside", &post},
        Operation{"the same with a signal", &post_with_signal},
        Operation{"post from a task", &fan_out}, Operation{"chains", &chains<KeptHandle>},
        Operation{"chains, a handle for each task", &chains<OwnHandle>},
        Operation{"yield", &yields}, Operation{"set_priority", &set_priority}}) {
    for (const unsigned agents : {1U, 2U, 4U, 8U, 16U, 32U, 64U}) measure(operation, agents);
  }
}
