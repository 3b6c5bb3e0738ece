// Rule: ORD-5: no operation on the post, pick, abort or re-prioritise paths takes a mutex. This
// executable replaces the functions that lock one, and counts their calls, thread by thread.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <chrono>
#include <cstdint>
#include <heist/heist.hpp>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "api/probes.hpp"

namespace heist {
namespace {

constinit thread_local std::uint64_t locks = 0;

template <class Function>
Function* hidden(const char* name) noexcept {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace heist

// The sanitizers replace these themselves.
#if !defined(HEIST_SANITIZER_ADDRESS) && !defined(HEIST_SANITIZER_THREAD)
#define HEIST_TEST_COUNTS_LOCKS 1
extern "C" {

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static auto* const real = heist::hidden<int(pthread_mutex_t*)>("pthread_mutex_lock");
  ++heist::locks;
  return real(mutex);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  static auto* const real = heist::hidden<int(pthread_rwlock_t*)>("pthread_rwlock_rdlock");
  ++heist::locks;
  return real(lock);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  static auto* const real = heist::hidden<int(pthread_rwlock_t*)>("pthread_rwlock_wrlock");
  ++heist::locks;
  return real(lock);
}

}  // extern "C"
#endif

namespace heist {
namespace {

using namespace std::chrono_literals;

constexpr int posts = 200;

/// Locks the calling thread takes in `work`.
template <class Work>
std::uint64_t locks_of(Work&& work) {
  const auto before = locks;
  std::forward<Work>(work)();
  return locks - before;
}

/// Posts of every kind, with signals that may be aborted and changed.
class Ord5Locks : public testing::Test {
 protected:
  void SetUp() override {
#if !defined(HEIST_TEST_COUNTS_LOCKS)
    GTEST_SKIP() << "this sanitizer's own functions lock";
#endif
  }

  void post_all(const Scheduler& scheduler) {
    for (int i = 0; i < posts; ++i) {
      scheduler.post([] {}, {.priority = TaskPriority::background});
      static_cast<void>(scheduler.post_task([] {}, {.signal = dynamic.signal()}));
      static_cast<void>(scheduler.post_task([] {}, {.signal = aborted.signal(), .delay = 1h}));
    }
  }
  void change_and_abort() {
    dynamic.set_priority(TaskPriority::user_blocking);
    dynamic.set_priority(TaskPriority::background);
    aborted.abort();
  }

  TaskController dynamic;
  AbortController aborted;
};

TEST_F(Ord5Locks, locks_when_a_mutex_is_taken_then_counted) {
  std::mutex mutex;
  std::shared_mutex shared;
  EXPECT_EQ(locks_of([&] {
              const std::lock_guard first(mutex);
              const std::unique_lock second(shared);
            }),
            2U);
}

TEST_F(Ord5Locks, operations_when_by_another_thread_while_the_agent_runs_then_no_lock) {
  test::Gate running;
  test::Gate release;
  const Agent agent;
  const Scheduler scheduler = agent.scheduler();
  scheduler.post([&] {
    running.open();
    release.wait();
  });
  running.wait();
  EXPECT_EQ(locks_of([&] {
              post_all(scheduler);
              change_and_abort();
            }),
            0U);
  release.open();
}

TEST_F(Ord5Locks, operations_when_by_another_thread_while_the_agent_sleeps_then_no_lock) {
  AgentOptions options;
  options.loop.spin = 0ns;
  const Agent agent(options);
  const Scheduler scheduler = agent.scheduler();
  EXPECT_EQ(locks_of([&] {
              for (int round = 0; round < 20; ++round) {
                scheduler.post_task([] {}, {.signal = dynamic.signal()}).get();
              }
              change_and_abort();
            }),
            0U);
}

TEST_F(Ord5Locks, loop_when_it_takes_picks_runs_and_clears_away_then_no_lock) {
  EventLoop loop(test::on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  test::on_plain_thread([&] { post_all(scheduler); });
  EXPECT_EQ(locks_of([&] {
              scheduler.post([&] {
                post_all(scheduler);
                change_and_abort();
              });
              loop.advance(2h);
            }),
            0U);
  EXPECT_EQ(loop.pending(), 0U);
}

}  // namespace
}  // namespace heist
