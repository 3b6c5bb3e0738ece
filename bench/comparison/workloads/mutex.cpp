// mutex: two coroutines of one thread hand a mutex over to each other; the time of each hand-over.
#include <cstdint>

#include "../../subjects/locks/asio_strands.hpp"
#include "../../subjects/locks/fiber_locks.hpp"
#include "../../subjects/locks/heist_locks.hpp"
#include "../../subjects/yields/turns.hpp"
#include "subjects.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

constexpr std::int64_t turns_of_each = 200'000;
constexpr int players = 2;

template <class Subject>
Completion::Clock::time_point take_turns(Subject& subject, std::int64_t each) {
  Turns turns(each, players);
  subject.post([&subject, &turns] {
    for (int player = 0; player < players; ++player) subject.begin(turns, player);
  });
  return turns.wait();
}

template <class Subject>
void mutex(Run& run) {
  const auto each = run.scaled(turns_of_each);
  Subject subject;
  take_turns(subject, each / 4);
  run.start();
  run.stop(players * each, take_turns(subject, each));
  run.report_time();
}

}  // namespace

void add_mutex(Registry& registry) {
  add_for(SubjectList<HeistLocks, AsioStrands, FiberLocks>(), registry,
          {.workload = "mutex", .subject = {}, .unit = "ns", .measure = {}},
          []<class Subject>(Run& run) { mutex<Subject>(run); });
}

}  // namespace bench
