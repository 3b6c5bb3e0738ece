// yield: one coroutine yields again and again on an otherwise idle loop; the time of a yield,
// resumption included. While warming up, two of them take turns, which shows that each lets the
// other run.
#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdlib>

#include "../../subjects/yields/asio_yields.hpp"
#include "../../subjects/yields/fiber_yields.hpp"
#include "../../subjects/yields/heist_yields.hpp"
#include "../../subjects/yields/turns.hpp"
#include "subjects.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

constexpr std::int64_t yields = 500'000;

/// Starts at once and keeps nothing; nobody waits for it.
struct BareCoroutine {
  struct promise_type {
    static BareCoroutine get_return_object() noexcept { return {}; }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_never final_suspend() noexcept { return {}; }
    static void return_void() noexcept {}
    [[noreturn]] static void unhandled_exception() noexcept { std::abort(); }
  };
};

/// Where a subject has no yield of its own: a bare coroutine that posts its resumption.
template <class Subject>
class PostedYields : public Subject {
 public:
  void begin(Turns& turns, int player) { play(*this, turns, player); }

 private:
  struct Requeue {
    Subject& subject;
    [[nodiscard]] static bool await_ready() noexcept { return false; }
    void await_suspend(std::coroutine_handle<> coroutine) const { post_inside(subject, coroutine); }
    static void await_resume() noexcept {}
  };
  static BareCoroutine play(Subject& subject, Turns& turns, int player) {
    const Requeue requeue{subject};
    for (auto left = turns.each(); left > 0; --left) {
      co_await requeue;
      turns.take(player);
    }
  }
};

/// The floor: one thread and a ring of coroutines, without any synchronisation.
class RawFifo {
 public:
  static constexpr const char* name = "raw_fifo";
  template <class F>
  void post(F&& f) {
    std::forward<F>(f)();
    for (; head_ != tail_; ++head_) ring_[head_ % ring_.size()].resume();
  }
  void post_inside(std::coroutine_handle<> coroutine) noexcept {
    ring_[tail_++ % ring_.size()] = coroutine;
  }

 private:
  std::array<std::coroutine_handle<>, 4> ring_;  // two players, one of which runs
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

template <class Subject>
Completion::Clock::time_point take_turns(Subject& subject, std::int64_t each, int players) {
  Turns turns(each, players);
  subject.post([&subject, &turns, players] {
    for (int player = 0; player < players; ++player) subject.begin(turns, player);
  });
  return turns.wait();
}

template <class Subject>
void yield(Run& run) {
  const auto count = run.scaled(yields);
  Subject subject;
  take_turns(subject, count / 2, 2);
  run.start();
  run.stop(count, take_turns(subject, count, 1));
  run.report_time();
}

}  // namespace

void add_yield(Registry& registry) {
  using Subjects = SubjectList<HeistYields, HeistSignalYields, AsioYields, FiberYields,
                               PostedYields<MutexDequeSubject>, PostedYields<MutexSwapSubject>,
                               PostedYields<RawFifo>>;
  add_for(Subjects(), registry, {.workload = "yield", .subject = {}, .unit = "ns", .measure = {}},
          []<class Subject>(Run& run) { yield<Subject>(run); });
}

}  // namespace bench
