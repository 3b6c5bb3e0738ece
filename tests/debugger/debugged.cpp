// A program in a known situation, at which tests/debugger/check_commands looks with gdb.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <heist/heist.hpp>
#include <latch>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>

using heist::Promise;
using heist::TaskPriority;

/// gdb stops here, when everything stands as the test expects it.
extern "C" [[gnu::noinline]] void situation_is_ready() { asm volatile(""); }

namespace app {

std::latch agent_0_is_busy(1);
std::latch agent_1_is_busy(1);
std::latch tasks_are_posted(1);
std::counting_semaphore<> go_on(0);

Promise<int> read_row(Promise<int> row) {
  const int value = co_await row;
  co_return value + 1;
}

Promise<int> load_table(Promise<int> row) {
  Promise<int> loaded = read_row(std::move(row));
  const int value = co_await loaded;
  co_return value + 1;
}

Promise<void> serve_request(Promise<int> row) {
  Promise<int> table = load_table(std::move(row));
  co_await table;
}

/// Awaits two promises, one of which follows a coroutine.
Promise<void> report(Promise<int> row) {
  Promise<int> table = load_table(row);
  Promise<int> doubled = table.then([](int size) { return 2 * size; });
  auto both = heist::when_all(doubled, row);
  co_await both;
}

Promise<void> write_log(const heist::AsyncMutex& log) {
  heist::MutexGuard guard = co_await log.lock();
}

/// Holds agent 0 while the coroutine that called it awaits it.
Promise<int> compress() {
  co_await heist::yield();
  agent_0_is_busy.count_down();
  go_on.acquire();
  co_return 1;
}

Promise<void> write_archive() {
  Promise<int> size = compress();
  co_await size;
}

Promise<void> take_turns() { co_await heist::yield(); }

struct Redraw {
  void operator()() const {}
};
struct Prefetch {
  void operator()() const {}
};
struct Upload {
  void operator()() const {}
};
struct Index {
  void operator()() const {}
};
struct Expire {
  void operator()() const {}
};

/// Holds agent 1. What an agent posts stands in its own ring, and nobody is free to steal it.
void hold_agent(const heist::Scheduler& scheduler, const heist::TaskSignal& signal) {
  agent_1_is_busy.count_down();
  agent_0_is_busy.wait();
  for (int i = 0; i < 3; ++i) scheduler.post(Index{}, {.priority = TaskPriority::background});
  heist::Agent::current()->scheduler().post(Upload{}, {.signal = signal});
  static_cast<void>(take_turns());
  tasks_are_posted.count_down();
  go_on.acquire();
}

}  // namespace app

/// Whether the only thread of this name sleeps in the system, whose file says that with an S.
bool sleeps(const std::string& thread) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream stat(entry.path() / "stat");
    std::string id;
    std::string name;
    char state = 0;
    stat >> id >> name >> state;
    if (name == "(" + thread + ")") return state == 'S';
  }
  return false;
}

int main() {
  auto [row, resolver] = Promise<int>::with_resolver();
  const heist::AsyncMutex log;
  heist::MutexGuard log_guard = log.try_lock();
  heist::Agent reader({.name = "reader"});
  Promise<void> request = reader.scheduler().post_task([row = row] {
    heist::Agent::current()->scheduler().post(
        app::Expire{}, {.delay = std::chrono::hours(1), .label = "expire entry"});
    return app::serve_request(row);
  });
  Promise<void> reported = reader.scheduler().post_task([row = row, &log] {
    static_cast<void>(app::write_log(log));
    return app::report(row);
  });
  while (reader.stats().tasks_run < 2 || !sleeps("reader")) std::this_thread::yield();

  heist::TaskController raised(TaskPriority::background);
  heist::TaskController aborted;
  const heist::TaskSignal raised_signal = raised.signal();
  heist::AgentCluster cluster({.agents = 2});
  const heist::Scheduler scheduler = cluster.scheduler();
  cluster.agent(1).scheduler().post([&] { app::hold_agent(scheduler, raised_signal); });
  app::agent_1_is_busy.wait();
  Promise<void> archive = scheduler.post_task([] { return app::write_archive(); });
  app::tasks_are_posted.wait();

  const heist::AbortSignal aborted_signal = aborted.signal();
  const auto listening = raised_signal.on_priority_change([] {});
  scheduler.post(app::Redraw{}, {.priority = TaskPriority::user_blocking});
  for (int i = 0; i < 3; ++i) scheduler.post(app::Prefetch{});
  for (int i = 0; i < 4; ++i) scheduler.post(app::Upload{}, {.signal = raised_signal});
  heist::EventLoop later;
  later.scheduler().post(app::Index{});
  Promise<void> dropped = scheduler.post_task([] {}, {.signal = aborted_signal});
  raised.set_priority(TaskPriority::user_blocking);
  aborted.abort();
  const auto done = Promise<int>::resolved(42);
  situation_is_ready();

  app::go_on.release(2);
  resolver.resolve(1);
  request.get();
  archive.get();
  log_guard.unlock();
  reported.get();
  return dropped.status() == heist::PromiseStatus::rejected && done.get() == 42 ? 0 : 1;
}
