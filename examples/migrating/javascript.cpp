// What pages write with scheduler.postTask, in C++ (docs/migrating/javascript.md). One event loop
// on a virtual clock stands for the page's.
#include <cstdio>
#include <heist/heist.hpp>
#include <string>
#include <vector>

namespace {

using heist::TaskPriority;
using namespace std::chrono_literals;

std::vector<std::string> shown;
void show(const std::string& text) { shown.push_back(text); }

void post_tasks(const heist::Scheduler& scheduler) {
  scheduler.post([] { show("report"); }, {.priority = TaskPriority::background});
  scheduler.post([] { show("answer"); }, {.priority = TaskPriority::user_blocking});
  scheduler.post([] { show("later"); }, {.delay = 100ms});
}

heist::Promise<void> show_all(std::vector<std::string> texts) {
  for (const std::string& text : texts) {
    show(text);
    co_await heist::yield();
  }
}

void raise_and_abort(const heist::Scheduler& scheduler) {
  heist::TaskController controller(TaskPriority::background);
  scheduler.post([] { show("thumbnail"); }, {.signal = controller.signal()});
  controller.set_priority(TaskPriority::user_blocking);

  heist::AbortController search;
  auto hits = scheduler.post_task([] { return 42; }, {.signal = search.signal()});
  search.abort(std::string("the user typed on"));
  static_cast<void>(
      hits.then(scheduler, [](int) {}, [](const heist::Reason& reason) { show(reason.what()); }));
}

heist::Promise<void> load(heist::Scheduler scheduler) {
  auto text = scheduler.post_task([] { return std::string("text"); });
  auto limit = heist::sleep_for(2s);
  auto race = heist::race(text, limit);
  const auto first = co_await race;
  show(first.index() == 0 ? std::get<0>(first) : "too late");
}

}  // namespace

int main() {
  heist::EventLoop loop({.clock = heist::LoopClock::virtual_time});
  const heist::Scheduler scheduler = loop.scheduler();
  post_tasks(scheduler);
  const auto all = scheduler.post_task([] { return show_all({"one", "two"}); });
  raise_and_abort(scheduler);
  const auto loaded = scheduler.post_task([scheduler] { return load(scheduler); });
  loop.run_until_idle();
  loop.advance(100ms);

  for (const std::string& text : shown) std::printf("%s\n", text.c_str());
  const std::vector<std::string> expected{
      "the user typed on", "answer", "thumbnail", "one", "two", "text", "report", "later"};
  return shown == expected ? 0 : 1;
}
