// What does one task cost? External posts by 1 to 8 producers, a chain, a fan-out and promises,
// beside Boost.Asio, oneTBB and two baselines. Every run checks how many tasks ran and the sum of
// their payloads.
//
// Interleave: --benchmark_repetitions=7 --benchmark_enable_random_interleaving=true
//             --benchmark_report_aggregates_only=true
#include <benchmark/benchmark.h>

#include <array>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <memory>
#include <string>

#include "completion.hpp"
#include "subjects/subjects.hpp"

namespace bench {
namespace {

constexpr std::int64_t batch = 200'000;
constexpr int timer_count = 1000;

/// A task with a capture of `Bytes` bytes in all.
template <std::size_t Bytes>
struct Payload {
  Completion* done;
  std::array<std::uint64_t, (Bytes - sizeof(Completion*)) / 8> words;
  void operator()() const { done->add(words[0]); }
};
template <>
struct Payload<8> {
  Completion* done;
  void operator()() const { done->add(1); }
};

template <std::size_t Bytes>
Payload<Bytes> make_payload(Completion& done) {
  if constexpr (Bytes == 8) {
    return {&done};
  } else {
    return {&done, {1}};
  }
}

template <class Subject, std::size_t Bytes>
void post(benchmark::State& state) {
  const auto producers = state.range(0);
  Subject subject;
  for (auto _ : state) {
    Completion done(batch / producers * producers);
    std::vector<std::thread> threads;
    for (std::int64_t p = 0; p < producers; ++p) {
      threads.emplace_back([&] {
        for (std::int64_t i = 0; i < batch / producers; ++i)
          subject.post(make_payload<Bytes>(done));
      });
    }
    for (auto& thread : threads) thread.join();
    done.wait();
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

template <class Subject>
struct Link {
  Subject* subject;
  Completion* done;
  void operator()() const {
    if (!done->add(1)) subject->post(*this);
  }
};

template <class Subject>
void chain(benchmark::State& state) {
  Subject subject;
  for (auto _ : state) {
    Completion done(batch);
    subject.post(Link<Subject>{&subject, &done});
    done.wait();
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

template <class Subject>
void fanout(benchmark::State& state) {
  Subject subject;
  for (auto _ : state) {
    Completion done(batch);
    subject.post([&] {
      for (std::int64_t i = 0; i < batch; ++i) subject.post(make_payload<16>(done));
    });
    done.wait();
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

void heist_promise(benchmark::State& state) {
  heist::Agent agent;
  const auto scheduler = agent.scheduler();
  for (auto _ : state) {
    Completion done(batch);
    for (std::int64_t i = 0; i < batch; ++i) {
      benchmark::DoNotOptimize(scheduler.post_task([&done] { return done.add(1); }));
    }
    done.wait();
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

void asio_promise(benchmark::State& state) {
  boost::asio::io_context context{1};
  auto guard = boost::asio::make_work_guard(context);
  std::thread thread([&] { context.run(); });
  for (auto _ : state) {
    Completion done(batch);
    for (std::int64_t i = 0; i < batch; ++i) {
      benchmark::DoNotOptimize(
          boost::asio::post(context, boost::asio::use_future([&done] { return done.add(1); })));
    }
    done.wait();
  }
  guard.reset();
  thread.join();
  state.SetItemsProcessed(state.iterations() * batch);
}

/// Arms and cancels 1000 timers an hour ahead, on the worker itself.
void heist_timers(benchmark::State& state) {
  heist::EventLoop loop;
  const auto scheduler = loop.scheduler();
  for (auto _ : state) {
    scheduler.post([&] {
      heist::AbortController controller;
      for (int i = 0; i < timer_count; ++i) {
        scheduler.post([] {}, {.signal = controller.signal(), .delay = std::chrono::hours(1)});
      }
      controller.abort();
    });
    loop.run_until_idle();
  }
  state.SetItemsProcessed(state.iterations() * timer_count);
}

void asio_timers(benchmark::State& state) {
  boost::asio::io_context context{1};
  for (auto _ : state) {
    std::vector<boost::asio::steady_timer> timers;
    timers.reserve(timer_count);
    for (int i = 0; i < timer_count; ++i) {
      timers.emplace_back(context, std::chrono::hours(1));
      timers.back().async_wait([](const boost::system::error_code&) {});
    }
    for (auto& timer : timers) timer.cancel();
    context.run();
    context.restart();
  }
  state.SetItemsProcessed(state.iterations() * timer_count);
}

template <class Subject>
void add() {
  const std::string name = Subject::name;
  for (const auto& [label, function] :
       {std::pair{"post/empty/", &post<Subject, 8>}, std::pair{"post/40B/", &post<Subject, 40>}}) {
    benchmark::RegisterBenchmark((label + name).c_str(), function)
        ->ArgName("producers")
        ->RangeMultiplier(2)
        ->Range(1, 8)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::RegisterBenchmark(("chain/" + name).c_str(), &chain<Subject>)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark(("fanout/" + name).c_str(), &fanout<Subject>)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
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
  benchmark::RegisterBenchmark("promise/heist", heist_promise)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("promise/asio_use_future", asio_promise)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("timer_arm_cancel/heist", heist_timers);
  benchmark::RegisterBenchmark("timer_arm_cancel/asio_steady_timer", asio_timers);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
