// Long work in chunks: between two of them whatever is more urgent runs, and an abort ends it
// there. Tasks of the work's own priority wait until it is done, unless
// EventLoopOptions::continuation_cap lets them pass.
#include <cstdio>
#include <heist/heist.hpp>
#include <string>
#include <vector>

namespace {

std::vector<std::string> log_lines;

void note(const char* line) {
  std::printf("%s\n", line);
  log_lines.emplace_back(line);
}

heist::Promise<void> work(int chunks) {
  for (int chunk = 0; chunk < chunks; ++chunk) {
    note("chunk");
    co_await heist::yield();
  }
  note("done");
}

}  // namespace

int main() {
  heist::EventLoop loop;
  const heist::Scheduler scheduler = loop.scheduler();
  heist::TaskController controller(heist::TaskPriority::user_visible);

  const auto all = scheduler.post_task([] { return work(2); }, {.signal = controller.signal()});
  scheduler.post([] { note("same priority: after the work"); });
  loop.run_one();  // the first chunk
  scheduler.post([] { note("urgent: between two chunks"); },
                 {.priority = heist::TaskPriority::user_blocking});
  loop.run_until_idle();
  const bool in_order = log_lines.back() == "same priority: after the work";

  const auto aborted =
      scheduler.post_task([] { return work(1000); }, {.signal = controller.signal()});
  loop.run_one();
  controller.abort("enough");
  loop.run_until_idle();
  const bool ended = aborted.status() == heist::PromiseStatus::rejected;
  return all.settled() && in_order && ended ? 0 : 1;
}
