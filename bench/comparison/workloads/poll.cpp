// poll: a task asks again and again whether something more urgent waits, and nothing does.
#include <cstdlib>

#include "../../completion.hpp"
#include "../../subjects/polls/heist_polls.hpp"
#include "../../subjects/polls/raw_flag.hpp"
#include "subjects.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

constexpr std::int64_t polls = 20'000'000;

template <class Subject>
void ask(Run& run, const Subject& subject, std::int64_t count) {
  run.start();
  for (auto left = count; left > 0; --left) {
    if (subject.poll()) std::abort();
    asm volatile("" ::: "memory");  // so that the next answer is asked for anew
  }
  run.stop(count);
}

template <class Subject>
void poll(Run& run) {
  const auto count = run.scaled(polls);
  Completion asked(1);
  Subject subject;
  subject.post([&] {
    ask(run, subject, count);
    asked.add(1);
  });
  asked.wait();
  run.report_time();
}

}  // namespace

void add_poll(Registry& registry) {
  using Subjects = SubjectList<HeistPolls, HeistClusterPolls, RawFlag>;
  add_for(Subjects(), registry, {.workload = "poll", .subject = {}, .unit = "ns", .measure = {}},
          []<class Subject>(Run& run) { poll<Subject>(run); });
}

}  // namespace bench
