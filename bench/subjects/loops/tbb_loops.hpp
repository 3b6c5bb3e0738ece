// oneTBB's own loops. The caller is one of the threads: it is in an arena whose other slots are for
// workers.
#pragma once

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/parallel_sort.h>
#include <oneapi/tbb/task_arena.h>

#include <cstddef>
#include <utility>

namespace bench {

class TbbLoops {
 public:
  static constexpr const char* name = "tbb_parallel";
  explicit TbbLoops(int threads)
      : parallelism_(tbb::global_control::max_allowed_parallelism, std::size_t(threads)),
        arena_(threads) {}

  template <class Work>
  void run(Work work) {
    arena_.execute(work);
  }
  template <class Body>
  static void loop(std::size_t size, const Body& body) {
    tbb::parallel_for(std::size_t{0}, size, body);
  }
  template <class Value, class Body, class Combine>
  static Value reduce(std::size_t size, Value identity, const Body& body, const Combine& combine) {
    const auto fold = [&](const tbb::blocked_range<std::size_t>& range, Value value) {
      for (std::size_t at = range.begin(); at != range.end(); ++at) value = body(value, at);
      return value;
    };
    return tbb::parallel_reduce(tbb::blocked_range<std::size_t>(0, size), identity, fold, combine);
  }
  template <class Iterator>
  static void sort(Iterator first, Iterator last) {
    tbb::parallel_sort(first, last);
  }

 private:
  tbb::global_control parallelism_;
  tbb::task_arena arena_;
};

}  // namespace bench
