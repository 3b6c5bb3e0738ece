// What the upstream tests cannot see: more than one thread.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <heist/agent.hpp>
#include <thread>

#include "wpt/yield_fixture.hpp"

namespace heist::support {

using namespace detail;
namespace {

using testing::Each;

class WptHomeAgent : public RuntimeFixture {
 protected:
  Promise<void> notes_its_threads(Promise<void> resolved_elsewhere) {
    threads.push_back(std::this_thread::get_id());
    co_await heist::yield();
    threads.push_back(std::this_thread::get_id());
    co_await resolved_elsewhere;
    threads.push_back(std::this_thread::get_id());
    co_await heist::yield(ContinuationPriority::background);
    threads.push_back(std::this_thread::get_id());
  }

  std::vector<std::thread::id> threads;
};

TEST_F(WptHomeAgent, WPT_MT_10_coroutine_when_it_goes_on_then_on_its_home_agent) {
  const Agent agent;
  auto [promise, resolver] = Promise<void>::with_resolver();
  const auto home = agent.scheduler().post_task([] { return std::this_thread::get_id(); }).get();
  const auto done = agent.scheduler().post_task(
      [this, elsewhere = promise] { return notes_its_threads(elsewhere); });
  on_thread([&resolver] { resolver.resolve(); });
  done.get();
  EXPECT_EQ(threads.size(), 4U);
  EXPECT_THAT(threads, Each(home));
}

class WptForeignResolver : public YieldFixture {
 protected:
  Promise<void> waits_then_competes(Promise<void> resolved_elsewhere) {
    co_await resolved_elsewhere;
    const auto rest = compete();
    co_await rest;
  }
};

TEST_F(WptForeignResolver,
       WPT_MT_11_yield_when_a_task_of_another_agent_resolved_then_not_its_state) {
  auto [promise, resolver] = Promise<void>::with_resolver();
  const auto task = [this, elsewhere = promise] { return waits_then_competes(elsewhere); };
  static_cast<void>(scheduler.post_task(task, {.priority = background}));
  loop.run_until_idle();
  const Agent agent;
  agent.scheduler()
      .post_task([&resolver] { resolver.resolve(); }, {.priority = user_blocking})
      .get();
  EXPECT_THAT(run(), as_background());
}

/// Two sources of one composite, aborted on two threads.
class WptTwoAborts : public RuntimeFixture {
 protected:
  void abort_both() {
    AbortController first;
    AbortController second;
    const auto composite = AbortSignal::any({first.signal(), second.signal()});
    const auto outer = AbortSignal::any({composite});
    std::atomic<int> events{0};
    const auto subscription = composite.on_abort([&events] { ++events; });
    const auto all_are_marked = [&] { EXPECT_TRUE(composite.aborted() && outer.aborted()); };
    const auto of_first = first.signal().on_abort(all_are_marked);
    const auto of_second = second.signal().on_abort(all_are_marked);
    std::thread other([&second] { second.abort("second"); });
    first.abort("first");
    other.join();
    EXPECT_EQ(events, 1);
    EXPECT_TRUE(composite.reason() == first.signal().reason() ||
                composite.reason() == second.signal().reason());
    EXPECT_TRUE(outer.aborted());
  }
};

TEST_F(WptTwoAborts, WPT_MT_09_any_when_two_sources_abort_at_once_then_one_reason_and_one_event) {
  for (int round = 0; round < 500; ++round) abort_both();
}

// What a child does without exec: tests/api/fork_test.cpp.
TEST(WptFork, WPT_MT_18_fork_when_exec_follows_then_the_child_starts_and_the_agent_works_on) {
  const Agent agent;
  agent.scheduler().post_task([] {}).get();
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/true", "true", nullptr);
    ::_exit(127);
  }
  ASSERT_GT(child, 0);
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(agent.scheduler().post_task([] { return 1; }).get(), 1);
}

}  // namespace
}  // namespace heist::support
