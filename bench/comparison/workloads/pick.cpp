// pick: that many signals have a task queued each, so that many dynamic queues are live. Each task
// posts its successor under its own signal; the time from one task to the next.
#include <cstdint>
#include <heist/task_signal.hpp>
#include <string>
#include <vector>

#include "../../completion.hpp"
#include "../../gate.hpp"
#include "subjects.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

constexpr std::int64_t picks = 200'000;

/// All but `done` belongs to the agent.
struct Relay {
  Run& run;
  const heist::Scheduler& scheduler;
  std::int64_t queues;
  std::int64_t measured;
  std::int64_t total = queues + measured + queues;
  Completion done{total};
  std::int64_t posted = queues;
  std::int64_t ran = 0;

  void step(const heist::TaskSignal& signal) {
    // The first task of each queue came from outside, and the last posts nothing.
    if (ran == queues) run.start();
    if (ran == queues + measured) run.stop(measured);
    ++ran;
    if (posted < total) {
      ++posted;
      scheduler.post([this, &signal] { step(signal); }, {.signal = signal});
    }
    done.add(1);
  }
};

void pick(Run& run, std::int64_t queues) {
  std::vector<heist::TaskController> controllers(static_cast<std::size_t>(queues));
  std::vector<heist::TaskSignal> signals;
  for (const auto& controller : controllers) signals.push_back(controller.signal());
  HeistSubject subject;
  Relay relay{run, subject.scheduler(), queues, run.scaled(picks)};
  {
    Gate gate(subject);
    for (const auto& signal : signals) {
      subject.scheduler().post([&relay, &signal] { relay.step(signal); }, {.signal = signal});
    }
    gate.open();
  }
  relay.done.wait();
  run.report_time();
}

}  // namespace

void add_pick(Registry& registry) {
  for (const auto& [queues, name] :
       {std::pair{1, "/1"}, std::pair{1'000, "/1e3"}, std::pair{100'000, "/1e5"}}) {
    registry.add({.workload = std::string("pick") + name,
                  .subject = HeistSubject::name,
                  .unit = "ns",
                  .measure = [count = queues](Run& run) { pick(run, count); }});
  }
}

}  // namespace bench
