// abort_group: 1e5 tasks are queued behind a busy worker; they are aborted together, and the time
// is taken until the last callback is destroyed. None may run. Per task.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <heist/abort_signal.hpp>
#include <thread>

#include "../../gate.hpp"
#include "../../subjects/last_word.hpp"
#include "subjects.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

constexpr std::int64_t tasks = 100'000;

/// Callbacks may be destroyed by the thread that aborts and by the worker.
class SharedCount {
 public:
  void add(std::int64_t count) noexcept { count_.fetch_add(count, std::memory_order_release); }
  void wait_for(std::int64_t expected) const noexcept {
    while (count_.load(std::memory_order_acquire) != expected) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

 private:
  std::atomic<std::int64_t> count_{0};
};

class HeistGroup : public HeistSubject {
 public:
  template <class F>
  void post_to_group(F&& f) {
    scheduler().post(std::forward<F>(f), {.signal = controller_.signal()});
  }
  void abort() { controller_.abort(); }

 private:
  heist::AbortController controller_;
};

class TbbGroup : public TbbTaskGroupSubject {
 public:
  template <class F>
  void post_to_group(F&& f) {
    post(std::forward<F>(f));
  }
  void abort() { group().cancel(); }
};

template <class Group>
void abort_group(Run& run) {
  const auto count = run.scaled(tasks);
  for (const bool measured : {false, true}) {
    SharedCount gone;
    Group subject;
    Gate gate(subject);
    for (std::int64_t i = 0; i < count; ++i) {
      subject.post_to_group([word = LastWord(gone)] { std::abort(); });
    }
    if (measured) run.start();
    subject.abort();
    gate.open();
    gone.wait_for(count);
    if (measured) run.stop(count);
  }
  run.report_time();
}

}  // namespace

void add_abort_group(Registry& registry) {
  add_for(SubjectList<HeistGroup, TbbGroup>(), registry,
          {.workload = "abort_group", .subject = {}, .unit = "ns", .measure = {}},
          []<class Group>(Run& run) { abort_group<Group>(run); });
}

}  // namespace bench
