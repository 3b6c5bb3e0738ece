// chain: each task posts the next. fanout: one task posts all the others, which then run.
#include <array>
#include <cstddef>
#include <new>

#include "batch.hpp"
#include "subjects.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

constexpr std::int64_t batch = 300'000;

template <class Subject>
struct Link {
  Subject* subject;
  Completion* done;
  void operator()() const {
    if (!done->add(1)) post_inside(*subject, *this);
  }
};

template <class Subject>
Completion::Clock::time_point chain_once(Subject& subject, std::int64_t length) {
  Completion done(length);
  subject.post(Link<Subject>{&subject, &done});
  done.wait();
  return done.ended();
}

template <class Subject>
void chain(Run& run) {
  const auto length = run.scaled(batch);
  Subject subject;
  chain_once(subject, length);
  run.start();
  run.stop(length, chain_once(subject, length));
  run.report_time();
}

template <class Subject>
Completion::Clock::time_point fan_out_once(Subject& subject, std::int64_t count) {
  auto done = completion_of<16>(count);
  subject.post([&] {
    for (std::int64_t i = 0; i < count; ++i) post_inside(subject, make_payload<16>(done, i));
  });
  done.wait();
  return done.ended();
}

template <class Subject>
void fanout(Run& run) {
  const auto count = run.scaled(batch);
  Subject subject;
  fan_out_once(subject, count);
  run.start();
  run.stop(count, fan_out_once(subject, count));
  run.report_time();
}

/// The floor: one thread and a ring of inline tasks, without any synchronisation.
class RawChain {
 public:
  static constexpr const char* name = "raw_chain";
  template <class F>
  void post(F&& f) {
    post_inside(std::forward<F>(f));
    for (; head_ != tail_; ++head_) {
      Slot& slot = slots_[head_ % slots_.size()];
      slot.call(slot.callable.data());
    }
  }
  template <class F>
  void post_inside(F f) {
    static_assert(sizeof(F) <= sizeof(Slot::callable) && std::is_trivially_copyable_v<F>);
    Slot& slot = slots_[tail_++ % slots_.size()];
    new (slot.callable.data()) F(f);
    slot.call = [](void* callable) { (*static_cast<F*>(callable))(); };
  }

 private:
  struct alignas(64) Slot {
    void (*call)(void*) = nullptr;
    alignas(8) std::array<std::byte, 56> callable{};
  };

  std::array<Slot, 4> slots_;  // a chain has two tasks at a time
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace

void add_inside(Registry& registry) {
  using Chained = SubjectList<HeistSubject, AsioSubject, AsioPoolSubject, TbbSubject,
                              TbbTaskGroupSubject, TbbPrioritySubject, UvSubject, EventSubject,
                              FiberSubject, MutexDequeSubject, MutexSwapSubject, RawChain>;
  add_for(Chained(), registry, {.workload = "chain", .subject = {}, .unit = "ns", .measure = {}},
          []<class Subject>(Run& run) { chain<Subject>(run); });
  // Without boost_fiber: hundreds of thousands of stacks at once are not what it is for.
  using Fanned =
      SubjectList<HeistSubject, AsioSubject, AsioPoolSubject, TbbSubject, TbbTaskGroupSubject,
                  TbbPrioritySubject, UvSubject, EventSubject, MutexDequeSubject, MutexSwapSubject>;
  add_for(Fanned(), registry, {.workload = "fanout", .subject = {}, .unit = "ns", .measure = {}},
          []<class Subject>(Run& run) { fanout<Subject>(run); });
}

}  // namespace bench
