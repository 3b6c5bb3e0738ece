// What post and pool have in common: batches that are measured after a first one, and posts whose
// results are kept and then fetched, by the thread that posted them.
#pragma once

#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <heist/promise.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "../run.hpp"
#include "batch.hpp"

namespace bench {

constexpr std::int64_t posted_batch = 150'000;

/// Calls `pass(bool measured)`: once to warm up, then to measure.
template <class Pass>
void warm_up_and_measure(Run& run, Pass pass) {
  constexpr int measured_batches = 2;
  pass(false);
  for (int i = 0; i < measured_batches; ++i) pass(true);
  run.report_time();
}

/// post_task of the subject's scheduler.
template <class Subject>
class HeistPromises : Subject {
 public:
  static constexpr const char* name = Subject::name;
  using Future = heist::Promise<std::int64_t>;
  Future submit(std::int64_t value) {
    return this->scheduler().post_task([value] { return value; });
  }
};

template <class Subject>
class AsioPromises : Subject {
 public:
  static constexpr const char* name = Subject::name;
  using Future = std::future<std::int64_t>;
  Future submit(std::int64_t value) {
    return boost::asio::post(this->context(), boost::asio::use_future([value] { return value; }));
  }
};

/// The token that spares the wrapper of use_future.
template <class Subject>
class AsioPackagedPromises : Subject {
 public:
  static constexpr const char* name = "asio_packaged_task";
  using Future = std::future<std::int64_t>;
  Future submit(std::int64_t value) {
    return boost::asio::post(this->context(),
                             std::packaged_task<std::int64_t()>([value] { return value; }));
  }
};

/// A std::promise, as oneTBB has nothing of its own. Inside its task, which may hold what only
/// moves, but is called as const.
template <class Subject>
class TbbPromises : Subject {
 public:
  static constexpr const char* name = Subject::name;
  using Future = std::future<std::int64_t>;
  Future submit(std::int64_t value) {
    std::promise<std::int64_t> promise;
    auto future = promise.get_future();
    this->post(Task{std::move(promise), value});
    return future;
  }

 private:
  struct Task {
    mutable std::promise<std::int64_t> promise;
    std::int64_t value;
    void operator()() const { promise.set_value(value); }
  };
};

/// Where a subject has nothing of its own, users wrap a packaged_task. By a plain pointer, as each
/// runs: a shared one would cost each post a second allocation, being too much for a std::function
/// to hold.
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

template <class Promises>
constexpr std::int64_t promise_batch() {
  if constexpr (requires { Promises::batch; }) {
    return Promises::batch;
  } else {
    return posted_batch;
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

}  // namespace bench
