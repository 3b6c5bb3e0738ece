// The work whose instructions scripts/verification/instruction_counts counts under callgrind.
//
// usage: heist_instruction_counts WORK TASKS    does the work for so many tasks
//        heist_instruction_counts --list        the names of all work
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <heist/heist.hpp>
#include <string_view>

namespace {

using namespace heist;

/// A virtual clock, because how many instructions the steady one takes is the machine's affair.
EventLoopOptions on_virtual_clock() { return {.clock = LoopClock::virtual_time}; }

/// Posts tasks a thousand at a time, as a thread that does not drive the loop does, and runs them.
template <class Post>
void post_and_run(int tasks, Post&& post) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  for (int posted = 0; posted < tasks;) {
    for (int end = posted + 1000; posted < end; ++posted) post(scheduler);
    loop.run_until_idle();
  }
}

/// Runs `work(scheduler)` as a task of a loop, and what it posts.
template <class Work>
void run_in_a_task(const PostTaskOptions& options, Work&& work) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  scheduler.post([&] { work(scheduler); }, options);
  loop.run_until_idle();
}

/// Runs `work(scheduler, done)` as a task of a cluster with one agent, until `done()` was called.
template <class Work>
void run_in_a_cluster(Work&& work) {
  std::atomic<bool> is_done = false;
  const auto done = [&is_done] {
    is_done = true;
    is_done.notify_all();
  };
  const AgentCluster cluster({.agents = 1});
  const Scheduler scheduler = cluster.scheduler();
  scheduler.post([&] { work(scheduler, done); });
  is_done.wait(false);
}

void post(int tasks) {
  post_and_run(tasks, [](const Scheduler& scheduler) { scheduler.post([] {}); });
}

void post_with_a_promise(int tasks) {
  post_and_run(tasks, [](const Scheduler& scheduler) {
    static_cast<void>(scheduler.post_task([] { return 1; }));
  });
}

void post_with_an_abort_signal(int tasks) {
  const AbortController controller;
  const PostTaskOptions options{.signal = controller.signal()};
  post_and_run(tasks, [&](const Scheduler& scheduler) { scheduler.post([] {}, options); });
}

void post_with_a_task_signal(int tasks) {
  const TaskController controller;
  const PostTaskOptions options{.signal = controller.signal()};
  post_and_run(tasks, [&](const Scheduler& scheduler) { scheduler.post([] {}, options); });
}

void start_in_a_scope(int tasks) {
  EventLoop loop(on_virtual_clock());
  TaskScope scope(loop.scheduler());
  for (int i = 0; i < tasks; ++i) scope.start([] {});
  loop.run_until_idle();
  scope.join();
}

/// Posts itself until none is left.
struct Link {
  const Scheduler& scheduler;
  int& left;

  void operator()() const {
    if (--left > 0) scheduler.post(*this);
  }
};

void chain(int tasks) {
  run_in_a_task({},
                [&tasks](const Scheduler& scheduler) { scheduler.post(Link{scheduler, tasks}); });
}

void fan_out(int tasks) {
  run_in_a_task({}, [tasks](const Scheduler& scheduler) {
    for (int i = 0; i < tasks; ++i) scheduler.post([] {});
  });
}

Promise<void> yield_often(int times) {
  for (int i = 0; i < times; ++i) co_await yield();
}

void yield_plainly(int times) {
  run_in_a_task({}, [times](const Scheduler&) { static_cast<void>(yield_often(times)); });
}

void yield_with_a_signal(int times) {
  const TaskController controller;
  run_in_a_task({.signal = controller.signal()},
                [times](const Scheduler&) { static_cast<void>(yield_often(times)); });
}

/// Its frame is too large for the node pool, and comes from the allocator behind it.
Promise<char> keep_much() {
  std::array<volatile char, 2000> much;
  much[0] = 1;
  co_return much[0];
}

void large_frame(int coroutines) {
  run_in_a_task({}, [coroutines](const Scheduler&) {
    for (int i = 0; i < coroutines; ++i) static_cast<void>(keep_much());
  });
}

Promise<void> yield_if_urgent_often(int times) {
  for (int i = 0; i < times; ++i) co_await yield_if_urgent();
}

void yield_if_nothing_is_urgent(int times) {
  run_in_a_task({}, [times](const Scheduler&) { static_cast<void>(yield_if_urgent_often(times)); });
}

void ask_often(int times) {
  for (int i = 0; i < times; ++i) {
    if (urgent_waiting()) std::abort();
  }
}

void ask(int times) {
  run_in_a_task({}, [times](const Scheduler&) { ask_often(times); });
}

void ask_in_a_cluster(int times) {
  run_in_a_cluster([times](const Scheduler&, const auto& done) {
    ask_often(times);
    done();
  });
}

void fan_out_in_a_cluster(int tasks) {
  run_in_a_cluster([&tasks](const Scheduler& scheduler, const auto& done) {
    for (int i = tasks; i > 0; --i) {
      scheduler.post([&] {
        if (--tasks == 0) done();
      });
    }
  });
}

Forkable<int> fib(int n) {
  if (n < 2) co_return n;
  Forked<int> x = co_await fork(fib(n - 1));
  Forked<int> y = co_await fork(fib(n - 2));
  co_await join();
  co_return x.value() + y.value();
}

/// Trees of forked calls, until there were so many calls. They are one task: between tasks an agent
/// looks for more work, and how often it looks depends on the machine.
Forkable<void> fork_trees(int calls) {
  constexpr int calls_of_fib_12 = 465;
  for (int left = calls; left > 0; left -= calls_of_fib_12) {
    const Forked<int> tree = co_await fork(fib(12));
    co_await join();
  }
}

void fork_calls(const Scheduler& scheduler, int calls) {
  scheduler.post_task([calls] { return fork_trees(calls); }).get();
}

void fork_on_one_agent(int calls) {
  const AgentCluster cluster({.agents = 1});
  fork_calls(cluster.scheduler(), calls);
}

/// Another agent could steal, but waits in a task of its own.
void fork_beside_another_agent(int calls) {
  const AgentCluster cluster({.agents = 2});
  std::atomic<bool> has_begun = false;
  std::atomic<bool> is_done = false;
  cluster.scheduler().post([&] {
    has_begun = true;
    has_begun.notify_all();
    is_done.wait(false);
  });
  has_begun.wait(false);
  fork_calls(cluster.scheduler(), calls);
  is_done = true;
  is_done.notify_all();
}

void arm_and_clear(int timeouts) {
  using namespace std::chrono_literals;
  run_in_a_task({}, [timeouts](const Scheduler&) {
    for (int i = 0; i < timeouts; ++i) set_timeout([] {}, 10s).clear();
  });
}

/// A request of a server: a controller of its own, and a signal that also ends with the server.
void make_requests(int requests) {
  const AbortController shutdown;
  for (int i = 0; i < requests; ++i) {
    const AbortController own;
    static_cast<void>(AbortSignal::any({own.signal(), shutdown.signal()}));
  }
}

void set_priority(int times) {
  TaskController controller;
  for (int i = 0; i < times; ++i) {
    controller.set_priority(i % 2 == 0 ? TaskPriority::background : TaskPriority::user_blocking);
  }
}

struct Work {
  std::string_view name;
  void (*run)(int tasks);
};
constexpr Work all_work[] = {
    {"post", &post},
    {"post_with_a_promise", &post_with_a_promise},
    {"post_with_an_abort_signal", &post_with_an_abort_signal},
    {"post_with_a_task_signal", &post_with_a_task_signal},
    {"start_in_a_scope", &start_in_a_scope},
    {"chain", &chain},
    {"fan_out", &fan_out},
    {"fan_out_in_a_cluster", &fan_out_in_a_cluster},
    {"yield", &yield_plainly},
    {"yield_with_a_signal", &yield_with_a_signal},
    {"large_frame", &large_frame},
    {"yield_if_urgent", &yield_if_nothing_is_urgent},
    {"urgent_waiting", &ask},
    {"urgent_waiting_in_a_cluster", &ask_in_a_cluster},
    {"fork_on_one_agent", &fork_on_one_agent},
    {"fork_beside_another_agent", &fork_beside_another_agent},
    {"arm_and_clear", &arm_and_clear},
    {"make_requests", &make_requests},
    {"set_priority", &set_priority},
};

int list() {
  for (const Work& work : all_work) std::printf("%s\n", work.name.data());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "--list") return list();
  for (const Work& work : all_work) {
    if (work.name == name && argc == 3) return work.run(std::atoi(argv[2])), 0;
  }
  std::fprintf(stderr,
               "heist_instruction_counts: give a name that --list prints, and a number of tasks\n");
  return 2;
}
