// What programs write with std::async, std::thread and queues of their own, and with heist
// (docs/migrating/std_threads.md).
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <future>
#include <heist/heist.hpp>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace {

std::string read_page(int number) { return "page " + std::to_string(number); }

namespace with_std {

std::string get_result() {
  std::future<std::string> page = std::async(std::launch::async, read_page, 1);
  return page.get();
}

std::size_t get_all() {
  std::vector<std::future<std::string>> pages;
  for (int number = 0; number < 3; ++number) {
    pages.push_back(std::async(std::launch::async, read_page, number));
  }
  std::size_t length = 0;
  for (auto& page : pages) length += page.get().size();
  return length;
}

class Pool {
 public:
  explicit Pool(unsigned count) {
    for (unsigned i = 0; i < count; ++i) threads_.emplace_back([this] { run(); });
  }
  ~Pool() {
    const std::unique_lock lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
  }
  void post(std::function<void()> job) {
    const std::unique_lock lock(mutex_);
    jobs_.push_back(std::move(job));
    changed_.notify_one();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return is_closed_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      const auto job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool is_closed_ = false;
  std::vector<std::jthread> threads_;  // last: they end before what they use
};

int stop_early() {
  std::atomic<int> rounds{0};
  std::jthread worker([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) ++rounds;
  });
  while (rounds == 0) std::this_thread::yield();
  worker.request_stop();
  worker.join();
  return rounds;
}

}  // namespace with_std

namespace with_heist {

std::string get_result(const heist::Scheduler& scheduler) {
  const heist::Promise<std::string> page = scheduler.post_task([] { return read_page(1); });
  return page.get();
}

std::size_t get_all(const heist::Scheduler& scheduler) {
  std::vector<heist::Promise<std::string>> pages;
  for (int number = 0; number < 3; ++number) {
    pages.push_back(scheduler.post_task([number] { return read_page(number); }));
  }
  const auto all = heist::when_all(scheduler, pages);
  std::size_t length = 0;
  for (const std::string& page : all.get()) length += page.size();
  return length;
}

int stop_early(const heist::Scheduler& scheduler) {
  std::atomic<int> rounds{0};
  heist::TaskScope scope(scheduler);
  scope.start([&] {
    while (!scope.signal().aborted()) ++rounds;
  });
  while (rounds == 0) std::this_thread::yield();
  scope.abort();
  try {
    scope.join();
  } catch (const heist::AbortError&) {
    std::puts("stopped");
  }
  return rounds;
}

/// For a library that wants a token of the standard's.
bool is_told(const heist::AbortController& controller) {
  const std::stop_token token = controller.signal().stop_token();
  return token.stop_requested();
}

}  // namespace with_heist

}  // namespace

int main() {
  const heist::AgentCluster cluster({.agents = 2});
  const heist::Scheduler scheduler = cluster.scheduler();
  const bool same = with_std::get_result() == with_heist::get_result(scheduler) &&
                    with_std::get_all() == with_heist::get_all(scheduler);

  std::atomic<int> done{0};
  {
    with_std::Pool pool(2);
    for (int i = 0; i < 10; ++i) pool.post([&] { ++done; });
  }
  heist::AgentCluster pool({.agents = 2});
  for (int i = 0; i < 10; ++i) pool.scheduler().post([&] { ++done; });
  pool.close(heist::CloseMode::drain());

  heist::AbortController controller;
  controller.abort();
  const bool stopped = with_std::stop_early() > 0 && with_heist::stop_early(scheduler) > 0 &&
                       with_heist::is_told(controller);
  return same && stopped && done == 20 ? 0 : 1;
}
