// A request whose priority may change and whose work has a deadline: one signal for all its tasks
// has both.
#include <cstdio>
#include <heist/heist.hpp>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;

std::vector<std::string> log_lines;

heist::Promise<void> answer(const char* name) {
  for (int part = 1; part <= 3; ++part) {
    co_await heist::yield();  // keeps the signal: its priority as it is then, and its deadline
    log_lines.push_back(name + std::string(" ") + std::to_string(part));
    std::puts(log_lines.back().c_str());
  }
}

/// What a library gets may be an AbortSignal; the request's priority is not lost on the way.
heist::Promise<void> serve(const heist::Scheduler& scheduler, const heist::AbortSignal& request,
                           std::chrono::milliseconds limit, const char* name) {
  const heist::AbortSignal deadline = heist::AbortSignal::timeout(scheduler, limit);
  const auto prioritised = request.as_task_signal();
  const heist::AbortSignal signal =
      prioritised ? heist::TaskSignal::any({*prioritised, deadline}, *prioritised)
                  : heist::AbortSignal::any({request, deadline});
  return scheduler.post_task([name] { return answer(name); }, {.signal = signal});
}

}  // namespace

int main() {
  heist::EventLoop loop({.clock = heist::LoopClock::virtual_time});
  const heist::Scheduler scheduler = loop.scheduler();
  const heist::AbortController plain;
  heist::TaskController request(heist::TaskPriority::background);
  const heist::TaskController late(heist::TaskPriority::background);

  const auto done = serve(scheduler, plain.signal(), 1s, "user-visible");
  const auto urgent = serve(scheduler, request.signal(), 1s, "the request");
  const auto expired = serve(scheduler, late.signal(), 5ms, "too late");
  request.set_priority(heist::TaskPriority::user_blocking);  // the user waits for it now
  scheduler.post([&loop] { loop.spend(10ms); }, {.priority = heist::TaskPriority::user_visible});
  loop.run_until_idle();

  const bool in_order = log_lines.size() >= 6 && log_lines[0] == "the request 1" &&
                        log_lines[2] == "the request 3" && log_lines[5] == "user-visible 3";
  return in_order && done.settled() && urgent.settled() &&
                 expired.status() == heist::PromiseStatus::rejected
             ? 0
             : 1;
}
