// What programs write with oneTBB, and with heist (docs/migrating/onetbb.md).
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <heist/heist.hpp>
#include <heist/parallel.hpp>
#include <numeric>
#include <vector>

namespace {

using Numbers = std::vector<std::int64_t>;

void square(std::int64_t& number) { number *= number; }
std::int64_t fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

namespace with_tbb {

std::int64_t run_group() {
  std::int64_t left = 0;
  std::int64_t right = 0;
  tbb::task_group group;
  group.run([&] { left = fibonacci(10); });
  group.run([&] { right = fibonacci(11); });
  group.wait();
  return left + right;
}

std::int64_t sum_of_squares(Numbers& numbers) {
  tbb::parallel_for(std::size_t{0}, numbers.size(), [&](std::size_t i) { square(numbers[i]); });
  return tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, numbers.size()), std::int64_t{0},
      [&](const tbb::blocked_range<std::size_t>& range, std::int64_t sum) {
        for (std::size_t i = range.begin(); i != range.end(); ++i) sum += numbers[i];
        return sum;
      },
      std::plus<>());
}

std::int64_t split(int n) {
  if (n < 10) return fibonacci(n);
  std::int64_t left = 0;
  tbb::task_group group;
  group.run([&] { left = split(n - 1); });
  const std::int64_t right = split(n - 2);
  group.wait();
  return left + right;
}

void enqueue(std::atomic<int>& done) {
  tbb::task_arena urgent(tbb::task_arena::automatic, 1, tbb::task_arena::priority::high);
  urgent.enqueue([&] {
    ++done;
    done.notify_one();
  });
  done.wait(0);
}

bool cancel() {
  tbb::task_group group;
  group.cancel();
  return group.wait() == tbb::task_group_status::canceled;
}

}  // namespace with_tbb

namespace with_heist {

std::int64_t run_group(const heist::Scheduler& scheduler) {
  std::int64_t left = 0;
  std::int64_t right = 0;
  heist::TaskScope group(scheduler);
  group.start([&] { left = fibonacci(10); });
  group.start([&] { right = fibonacci(11); });
  group.join();
  return left + right;
}

std::int64_t sum_of_squares(Numbers& numbers) {
  heist::parallel_for(std::size_t{0}, numbers.size(), [&](std::size_t i) { square(numbers[i]); });
  return heist::parallel_reduce(
      std::size_t{0}, numbers.size(), std::int64_t{0},
      [&](std::int64_t sum, std::size_t i) { return sum + numbers[i]; }, std::plus<>());
}

heist::Forkable<std::int64_t> split(int n) {
  if (n < 10) co_return fibonacci(n);
  auto left = co_await fork(split(n - 1));
  const std::int64_t right = co_await split(n - 2);
  co_await heist::join();
  co_return left.value() + right;
}

void enqueue(const heist::Scheduler& scheduler, std::atomic<int>& done) {
  const auto task =
      scheduler.post_task([&] { ++done; }, {.priority = heist::TaskPriority::user_blocking});
  task.get();
}

bool cancel(const heist::Scheduler& scheduler) {
  heist::TaskController group(heist::TaskPriority::background);
  group.abort();
  return !scheduler.post([] {}, {.signal = group.signal()});
}

}  // namespace with_heist

}  // namespace

int main() {
  Numbers numbers(1'000);
  std::iota(numbers.begin(), numbers.end(), 0);
  Numbers same = numbers;
  std::atomic<int> done{0};
  with_tbb::enqueue(done);

  heist::AgentCluster cluster({.agents = 2});
  const heist::Scheduler scheduler = cluster.scheduler();
  const auto sum = scheduler.post_task([&] { return with_heist::sum_of_squares(same); });
  const auto tree = scheduler.post_task([] { return with_heist::split(20); });
  with_heist::enqueue(scheduler, done);

  const bool equal = with_tbb::run_group() == with_heist::run_group(scheduler) &&
                     with_tbb::sum_of_squares(numbers) == sum.get() &&
                     with_tbb::split(20) == tree.get() && numbers == same;
  const bool cancelled = with_tbb::cancel() && with_heist::cancel(scheduler);
  std::printf("the sum is %lld\n", static_cast<long long>(sum.get()));
  return equal && cancelled && done == 2 ? 0 : 1;
}
