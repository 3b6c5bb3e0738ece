// Work in slices: what is left of a task goes on in the next slice, and between two slices the loop
// runs the rest.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <heist/heist.hpp>
#include <numeric>
#include <vector>

namespace {

/// Adds numbers up, a thousand at a time.
struct Sum {
  heist::CooperativeScheduler scheduler;
  const std::vector<long>& numbers;
  long& total;
  std::size_t begin = 0;

  heist::CooperativeCallback operator()(const heist::Slice& slice) {
    while (begin < numbers.size() && (slice.did_timeout || !scheduler.should_yield())) {
      const std::size_t end = std::min(begin + 1000, numbers.size());
      for (; begin < end; ++begin) total += numbers[begin];
    }
    if (begin == numbers.size()) return {};
    return *this;
  }
};

}  // namespace

int main() {
  heist::EventLoop loop;
  std::vector<long> numbers(1'000'000);
  std::iota(numbers.begin(), numbers.end(), 1L);
  long total = 0;

  const heist::CooperativeScheduler work(loop.scheduler());

  // A callback returns what is left of its work.
  work.schedule_callback(heist::CooperativePriority::low, Sum{work, numbers, total});

  // A coroutine gives way where it says so.
  work.schedule_callback(heist::CooperativePriority::normal, [&]() -> heist::Promise<void> {
    for (int page = 1; page <= 3; ++page) {
      std::printf("page %d\n", page);
      co_await heist::slice();  // goes on at once while there is time left
    }
  });

  loop.run_until_idle();
  std::printf("the sum is %ld\n", total);
  return total == 500'000'500'000 ? 0 : 1;
}
