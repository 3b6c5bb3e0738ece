// How much memory does a queued task take? Resident set growth of a fresh process in which 1e6
// tasks wait behind one that blocks, per task, for captures of 16 and 48 bytes.
#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <latch>
#include <string>

#include "subjects/subjects.hpp"

namespace bench {
namespace {

constexpr std::int64_t tasks = 1'000'000;

double resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  long total = 0;
  long resident = 0;
  if (file == nullptr || std::fscanf(file, "%ld %ld", &total, &resident) != 2) std::abort();
  std::fclose(file);
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

template <std::size_t Bytes>
struct Capture {
  std::latch* done;
  std::array<char, Bytes - sizeof(std::latch*)> rest;
  void operator()() const { done->count_down(); }
};

template <class Subject, std::size_t Bytes>
double measure() {
  Subject subject;
  std::latch blocked(1);
  std::latch release(1);
  std::latch done(tasks);
  subject.post([&] {
    blocked.count_down();
    release.wait();
  });
  blocked.wait();
  const double before = resident_bytes();
  for (std::int64_t i = 0; i < tasks; ++i) subject.post(Capture<Bytes>{&done, {}});
  const double after = resident_bytes();
  release.count_down();
  done.wait();
  return (after - before) / static_cast<double>(tasks);
}

/// Runs in a child, so that no earlier run has left memory to reuse.
template <class Subject, std::size_t Bytes>
void bytes_per_task(benchmark::State& state) {
  double result = 0;
  for (auto _ : state) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) return state.SkipWithError("pipe");
    const pid_t child = fork();
    if (child == 0) {
      result = measure<Subject, Bytes>();
      const bool written = write(ends[1], &result, sizeof result) == sizeof result;
      _exit(written ? 0 : 1);
    }
    const bool read_all = read(ends[0], &result, sizeof result) == sizeof result;
    close(ends[0]);
    close(ends[1]);
    int status = 0;
    waitpid(child, &status, 0);
    if (!read_all || status != 0) return state.SkipWithError("the child failed");
  }
  state.counters["bytes_per_task"] = result;
}

template <class Subject>
void add() {
  const std::string name = Subject::name;
  benchmark::RegisterBenchmark(("bytes/16B/" + name).c_str(), &bytes_per_task<Subject, 16>)
      ->Iterations(1);
  benchmark::RegisterBenchmark(("bytes/48B/" + name).c_str(), &bytes_per_task<Subject, 48>)
      ->Iterations(1);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  add<HeistSubject>();
  add<AsioSubject>();
  add<TbbSubject>();
  add<MutexDequeSubject>();
  add<MutexSwapSubject>();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
