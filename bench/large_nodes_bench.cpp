// Nodes that are too large for the node pool, such as frames of coroutines with large locals. They
// come from the allocator that HEIST_MALLOC has chosen (docs/adr/0063): one build for each of them.
#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <heist/detail/node_memory.hpp>
#include <semaphore>
#include <thread>

namespace {

using namespace heist::detail;

std::size_t bytes_of(const benchmark::State& state) {
  return static_cast<std::size_t>(state.range(0));
}

void made_and_released_here(benchmark::State& state) {
  const std::size_t bytes = bytes_of(state);
  for ([[maybe_unused]] const auto _ : state) {
    void* node = allocate_node(bytes);
    benchmark::DoNotOptimize(node);
    release_node(node, bytes);
  }
}

/// Another thread that releases a batch of nodes whenever it is told to.
class Releaser {
 public:
  static constexpr int batch_nodes = 4096;
  using Batch = std::array<void*, batch_nodes>;

  explicit Releaser(std::size_t bytes) : bytes_(bytes) {}
  ~Releaser() {
    is_over_ = true;
    filled_.release();
  }
  Releaser(const Releaser&) = delete;
  Releaser& operator=(const Releaser&) = delete;

  [[nodiscard]] Batch& batch() noexcept { return batch_; }
  void release() {
    filled_.release();
    emptied_.acquire();
  }

 private:
  void run() {
    for (filled_.acquire(); !is_over_; filled_.acquire()) {
      for (void* const node : batch_) release_node(node, bytes_);
      emptied_.release();
    }
  }

  const std::size_t bytes_;
  bool is_over_ = false;
  Batch batch_{};
  std::binary_semaphore filled_{0};
  std::binary_semaphore emptied_{0};
  std::jthread thread_{[this] { run(); }};
};

void released_by_another_thread(benchmark::State& state) {
  const std::size_t bytes = bytes_of(state);
  Releaser releaser(bytes);
  while (state.KeepRunningBatch(Releaser::batch_nodes)) {
    for (void*& node : releaser.batch()) node = allocate_node(bytes);
    releaser.release();
  }
}

BENCHMARK(made_and_released_here)->Arg(704)->Arg(1500)->Arg(4000);
BENCHMARK(released_by_another_thread)->Arg(704)->Arg(1500)->Arg(4000)->UseRealTime();

}  // namespace
