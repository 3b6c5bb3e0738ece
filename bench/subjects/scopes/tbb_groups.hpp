// oneTBB: a task_group. The thread that waits for it runs tasks itself, and is one of the threads.
#pragma once

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <cstddef>
#include <cstdint>

namespace bench {

class TbbGroups {
 public:
  static constexpr const char* name = "tbb_task_group";
  explicit TbbGroups(int threads)
      : parallelism_(tbb::global_control::max_allowed_parallelism, std::size_t(threads)),
        arena_(threads) {}

  template <class Work>
  void run(std::int64_t count, const Work& work) {
    arena_.execute([&] {
      tbb::task_group group;
      for (std::int64_t i = 0; i < count; ++i) group.run([&work, i] { work(i); });
      group.wait();
    });
  }

 private:
  tbb::global_control parallelism_;
  tbb::task_arena arena_;
};

}  // namespace bench
