// for2/..., reduce2, sort2: loops over arrays on two threads, for each index.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "../../subjects/loops/heist_loops.hpp"
#include "../../subjects/loops/tbb_loops.hpp"
#include "subjects.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

constexpr int threads = 2;
constexpr int repetitions = 5;

/// Repeats `work`, which does `operations`, once more at first.
template <class Loops, class Work>
void repeat(Run& run, std::int64_t operations, Work work) {
  Loops loops(threads);
  loops.run(work);
  for (int i = 0; i < repetitions; ++i) {
    run.start();
    loops.run(work);
    run.stop(operations);
  }
  run.report_time();
}

/// A loop of `size` indexes, as often as it takes; each does `flops` additions to its number.
template <class Loops>
void loop(Run& run, std::size_t size, int flops, std::int64_t all) {
  const auto calls = std::max<std::int64_t>(1, run.scaled(all) / std::int64_t(size));
  std::vector<std::uint32_t> numbers(size);
  repeat<Loops>(run, calls * std::int64_t(size), [&] {
    for (std::int64_t call = 0; call < calls; ++call) {
      Loops::loop(size, [&](std::size_t at) {
        std::uint32_t number = numbers[at];
        for (int i = 0; i < flops; ++i) number = number * 3 + 1;
        numbers[at] = number;
      });
    }
  });
  if (std::adjacent_find(numbers.begin(), numbers.end(), std::not_equal_to<>()) != numbers.end()) {
    std::abort();
  }
}

template <class Loops>
void reduce(Run& run) {
  const auto size = static_cast<std::size_t>(run.scaled(4'000'000));
  std::vector<std::uint32_t> numbers(size, 3);
  std::uint64_t sum = 0;
  repeat<Loops>(run, std::int64_t(size), [&] {
    sum = Loops::reduce(
        size, std::uint64_t{0},
        [&](std::uint64_t so_far, std::size_t at) { return so_far + numbers[at]; }, std::plus<>());
  });
  if (sum != 3 * size) std::abort();
}

template <class Loops>
void sort(Run& run) {
  const auto size = static_cast<std::size_t>(run.scaled(1'000'000));
  std::vector<std::uint32_t> numbers(size);
  std::mt19937 random(1);
  std::generate(numbers.begin(), numbers.end(), random);
  std::vector<std::uint32_t> sorted;
  repeat<Loops>(run, std::int64_t(size), [&] {
    sorted = numbers;
    Loops::sort(sorted.begin(), sorted.end());
  });
  if (!std::is_sorted(sorted.begin(), sorted.end())) std::abort();
}

template <class Measure>
void add_loops_of(Registry& registry, const std::string& name, Measure measure) {
  add_for(SubjectList<HeistLoops, HeistHotLoops, TbbLoops>(), registry,
          {.workload = name, .subject = {}, .unit = "ns", .measure = {}}, measure);
}

}  // namespace

void add_loops(Registry& registry) {
  add_loops_of(registry, "for2/long", []<class Loops>(Run& run) {
    loop<Loops>(run, std::size_t(run.scaled(400'000)), 100, 400'000);
  });
  add_loops_of(registry, "for2/1000",
               []<class Loops>(Run& run) { loop<Loops>(run, 1'000, 1, 2'000'000); });
  add_loops_of(registry, "for2/8",
               []<class Loops>(Run& run) { loop<Loops>(run, 8, 100'000, 800); });
  add_loops_of(registry, "reduce2", []<class Loops>(Run& run) { reduce<Loops>(run); });
  add_loops_of(registry, "sort2", []<class Loops>(Run& run) { sort<Loops>(run); });
}

}  // namespace bench
