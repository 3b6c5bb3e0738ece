// post1, post2, post4, post8: that many threads post tasks to one worker, until the last has run.
// /empty, /16B, /40B: fire and forget, with captures of that size. /promise: each result is kept and
// then fetched, by the thread that posted it.
#include <boost/asio/use_future.hpp>
#include <future>
#include <memory>
#include <vector>

#include "batch.hpp"
#include "raw_ring.hpp"
#include "subjects.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

constexpr std::int64_t batch = 150'000;
constexpr int measured_batches = 2;

/// Calls `pass(bool measured)`: once to warm up, then to measure.
template <class Pass>
void warm_up_and_measure(Run& run, Pass pass) {
  pass(false);
  for (int i = 0; i < measured_batches; ++i) pass(true);
  run.report_time();
}

template <class Subject, std::size_t bytes>
void post(Run& run, int producers) {
  const auto each = run.scaled(batch) / producers;
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

class HeistPromises : HeistSubject {
 public:
  static constexpr const char* name = HeistSubject::name;
  using Future = heist::Promise<std::int64_t>;
  Future submit(std::int64_t value) {
    return scheduler().post_task([value] { return value; });
  }
};

class AsioPromises : AsioSubject {
 public:
  static constexpr const char* name = AsioSubject::name;
  using Future = std::future<std::int64_t>;
  Future submit(std::int64_t value) {
    return boost::asio::post(context(), boost::asio::use_future([value] { return value; }));
  }
};

/// The token that spares the wrapper of use_future.
class AsioPackagedPromises : AsioSubject {
 public:
  static constexpr const char* name = "asio_packaged_task";
  using Future = std::future<std::int64_t>;
  Future submit(std::int64_t value) {
    return boost::asio::post(context(),
                             std::packaged_task<std::int64_t()>([value] { return value; }));
  }
};

/// Where a subject has nothing of its own, users wrap a packaged_task. By a plain pointer, as each runs:
/// a shared one would cost each post a second allocation, being too much for a std::function to hold.
template <class Subject>
class PackagedPromises : Subject {
 public:
  static constexpr const char* name = Subject::name;
  using Future = std::future<std::int64_t>;
  Future submit(std::int64_t value) {
    auto task = std::make_unique<Task>([value] { return value; });
    auto future = task->get_future();
    this->post([task = task.release()] { (*std::unique_ptr<Task>(task))(); });
    return future;
  }

 private:
  using Task = std::packaged_task<std::int64_t()>;
};

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

template <class Promises>
constexpr std::int64_t promise_batch() {
  if constexpr (requires { Promises::batch; }) {
    return Promises::batch;
  } else {
    return batch;
  }
}

/// Posts numbers and sums what comes back.
template <class Promises>
void exchange_numbers(Promises& promises, std::vector<typename Promises::Future>& results,
                      std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) results.push_back(promises.submit(i));
  std::int64_t sum = 0;
  for (auto& result : results) sum += result.get();
  if (sum != count * (count - 1) / 2) std::abort();
  results.clear();
}

template <class Promises>
void post_promises(Run& run, int producers) {
  const auto each = run.scaled(promise_batch<Promises>()) / producers;
  Promises promises;
  warm_up_and_measure(run, [&](bool measured) {
    std::vector<std::vector<typename Promises::Future>> results(
        static_cast<std::size_t>(producers));
    for (auto& of_producer : results) of_producer.reserve(std::size_t(each));
    Producers threads(producers, [&](int producer) {
      exchange_numbers(promises, results[std::size_t(producer)], each);
    });
    if (measured) run.start();
    threads.start_and_join();
    if (measured) run.stop(each * producers);
  });
}

void add_promises(Registry& registry, const std::string& workload, int producers) {
  using Subjects =
      SubjectList<HeistPromises, AsioPromises, AsioPackagedPromises,
                  PackagedPromises<MutexDequeSubject>, PackagedPromises<MutexSwapSubject>,
                  PackagedPromises<TbbSubject>, AsyncPromises>;
  add_for(Subjects(), registry, {.workload = workload, .subject = {}, .unit = "ns", .measure = {}},
          [producers]<class Subject>(Run& run) { post_promises<Subject>(run, producers); });
}

}  // namespace

void add_post(Registry& registry) {
  for (const int producers : {1, 2, 4, 8}) {
    const auto name = "post" + std::to_string(producers);
    add_posts<8>(registry, name + "/empty", producers);
    add_posts<16>(registry, name + "/16B", producers);
    add_posts<40>(registry, name + "/40B", producers);
    add_promises(registry, name + "/promise", producers);
  }
}

}  // namespace bench
