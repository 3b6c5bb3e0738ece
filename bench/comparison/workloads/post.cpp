// post1, post2, post4, post8: that many threads post tasks to one worker, until the last has run.
// /empty, /16B, /40B: fire and forget, with captures of that size. /promise: each result is kept
// and then fetched, by the thread that posted it. executor/40B: one thread posts by
// boost::asio::post. post1/40B/counters, /sampled, /sampled_all: how many tasks are measured.
// post1/40B/trace: while a Trace runs.
#include <future>
#include <heist/trace.hpp>
#include <string>

#include "../../subjects/heist_executor.hpp"
#include "batch.hpp"
#include "promises.hpp"
#include "raw_ring.hpp"
#include "subjects.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

template <class Subject, std::size_t bytes>
void post(Run& run, int producers) {
  const auto each = run.scaled(posted_batch) / producers;
  Subject subject;
  warm_up_and_measure(run, [&](bool measured) {
    auto done = completion_of<bytes>(each * producers);
    Producers threads(producers, [&](int producer) {
      const auto first = producer * each;
      for (std::int64_t i = 0; i < each; ++i) subject.post(make_payload<bytes>(done, first + i));
    });
    if (measured) run.start();
    threads.start_and_join();
    done.wait();
    if (measured) run.stop(each * producers, done.ended());
  });
}

template <std::size_t bytes>
void add_posts(Registry& registry, const std::string& workload, int producers) {
  const Measurement common{.workload = workload, .subject = {}, .unit = "ns", .measure = {}};
  const auto measure = [producers]<class Subject>(Run& run) {
    post<Subject, bytes>(run, producers);
  };
  add_for(PostSubjects(), registry, common, measure);
  if (producers == 1) add_for(SubjectList<RawRing>(), registry, common, measure);
}

/// Heist when it measures one of so many tasks.
template <std::uint32_t every>
class HeistSampling : public HeistSubject {
 public:
  HeistSampling() : HeistSubject({.loop = {.sample_every = every}}) {}
};

/// Heist while a Trace runs.
class HeistTraced : public HeistSubject {
  heist::Trace trace_;
};

/// What it costs to see inside: counts alone, one task of 16 sampled as by default, all of them,
/// and a trace.
template <class Observed>
void add_metrics(Registry& registry, const std::string& workload) {
  add_for(SubjectList<Observed>(), registry,
          {.workload = workload, .subject = {}, .unit = "ns", .measure = {}},
          []<class Subject>(Run& run) { post<Subject, 40>(run, 1); });
}

/// A thread for each task: what the standard offers without an executor.
class AsyncPromises {
 public:
  static constexpr const char* name = "std_async";
  static constexpr std::int64_t batch = 1'000;
  using Future = std::future<std::int64_t>;
  static Future submit(std::int64_t value) {
    return std::async(std::launch::async, [value] { return value; });
  }
};

void add_promises(Registry& registry, const std::string& workload, int producers) {
  using Subjects =
      SubjectList<HeistPromises<HeistSubject>, AsioPromises<AsioSubject>,
                  AsioPackagedPromises<AsioSubject>, PackagedPromises<MutexDequeSubject>,
                  PackagedPromises<MutexSwapSubject>, TbbPromises<TbbSubject>, AsyncPromises>;
  add_for(Subjects(), registry, {.workload = workload, .subject = {}, .unit = "ns", .measure = {}},
          [producers]<class Subject>(Run& run) { post_promises<Subject>(run, producers); });
}

}  // namespace

/// Executors of Asio with one thread, and heist without its executor.
void add_executor(Registry& registry) {
  using Executors = SubjectList<HeistExecutor, HeistWithoutExecutor, AsioPoolSubject, AsioSubject>;
  add_for(Executors(), registry,
          {.workload = "executor/40B", .subject = {}, .unit = "ns", .measure = {}},
          []<class Subject>(Run& run) { post<Subject, 40>(run, 1); });
}

void add_post(Registry& registry) {
  for (const int producers : {1, 2, 4, 8}) {
    const auto name = "post" + std::to_string(producers);
    add_posts<8>(registry, name + "/empty", producers);
    add_posts<16>(registry, name + "/16B", producers);
    add_posts<40>(registry, name + "/40B", producers);
    add_promises(registry, name + "/promise", producers);
  }
  add_metrics<HeistSampling<0>>(registry, "post1/40B/counters");
  add_metrics<HeistSampling<16>>(registry, "post1/40B/sampled");
  add_metrics<HeistSampling<1>>(registry, "post1/40B/sampled_all");
  add_metrics<HeistTraced>(registry, "post1/40B/trace");
}

}  // namespace bench
