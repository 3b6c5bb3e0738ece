// Rule: SCO-6: destructors of scopes that wait for others, which wait for them, or which come late.
#include <atomic>
#include <heist/heist.hpp>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "scopes/scope_fixture.hpp"
#include "support/live_count.hpp"

namespace heist::support {
namespace {

class WaitingDestructor : public RuntimeFixture {
 protected:
  EventLoop loop;
  int touched = 0;
};

// Rule: SCO-6: the end of what the callback returned is on its way to the agent that waits for it.
TEST_F(WaitingDestructor, scope_when_a_returned_promise_was_settled_elsewhere_then_it_ends) {
  auto returned = later<void>();
  auto scope = std::make_unique<TaskScope>(loop.scheduler());
  scope->start([&, last = Touching(touched)] { return returned.promise; });
  int seen = 0;
  loop.scheduler().post([&] {
    std::thread([&] { returned.resolve(); }).join();
    scope.reset();
    seen = touched;
  });
  loop.run_until_idle();
  EXPECT_EQ(seen, 1);
}

// Rule: SCO-6: as above, and other reactions have arrived with it, which keep their order.
TEST_F(WaitingDestructor, scope_when_other_reactions_wait_then_only_its_own_end_comes_early) {
  std::string order;
  auto returned = later<void>();
  const auto other = [&](char name) -> Promise<void> {
    co_await returned.promise;
    order += name;
  };
  auto scope = std::make_unique<TaskScope>(loop.scheduler());
  loop.scheduler().post([&] { static_cast<void>(other('a')); });
  scope->start([&, last = AtDestruction([&] { order += 'e'; })] { return returned.promise; });
  loop.scheduler().post([&] { static_cast<void>(other('b')); });
  loop.scheduler().post([&] {
    std::thread([&] { returned.resolve(); }).join();
    scope.reset();
    order += '.';
  });
  loop.run_until_idle();
  EXPECT_EQ(order, "e.ab");
}

// Rule: SCO-6: nobody drives the loop, and what is aborted there comes later than the first look.
TEST_F(WaitingDestructor, scope_when_an_agent_waits_for_an_undriven_loop_then_it_looks_again) {
  AbortController outer;
  test::Gate aborting;
  test::Gate waiting;
  const auto listener = outer.signal().on_abort([&] {
    aborting.open();
    waiting.wait();
  });
  std::thread aborter;
  std::thread opener;
  const Agent agent;
  const auto leave = [&] {
    TaskScope scope(loop.scheduler(), {.signal = outer.signal()});
    scope.start([last = Touching(touched)] { FAIL() << "aborted"; });
    aborter = std::thread([&] { outer.abort(); });
    aborting.wait();  // the scope is aborted, its task is not claimed
    opener = std::thread([&] { waiting.open(); });
  };
  agent.scheduler().post_task(leave).get();
  EXPECT_EQ(touched, 1);
  aborter.join();
  opener.join();
}

// Rule: SCO-6
TEST_F(WaitingDestructor, scopes_when_two_agents_destroy_those_of_each_other_then_both_end) {
  const Agent one;
  const Agent two;
  std::atomic<int> arrived{0};
  int of_one = 0;
  int of_two = 0;
  const auto leave = [&](const Agent& where, int& count) {
    TaskScope scope(where.scheduler());
    for (int i = 0; i < 10; ++i) scope.start([last = Touching(count)] {});
    ++arrived;
    wait_until([&] { return arrived.load() == 2; });
  };
  const auto first = one.scheduler().post_task([&] { leave(two, of_two); });
  const auto second = two.scheduler().post_task([&] { leave(one, of_one); });
  ASSERT_TRUE(settles(first) && settles(second));
  EXPECT_EQ(of_one + of_two, 20);
}

/// In its end it starts and aborts another one, until it is told to stop.
struct Endless {
  explicit Endless(const Scheduler& where, const bool& stop) : where_(where), stop_(&stop) {}
  Endless(Endless&& other) noexcept
      : where_(other.where_), stop_(std::exchange(other.stop_, nullptr)) {}
  Endless& operator=(Endless&&) = delete;
  ~Endless() {
    if (stop_ != nullptr && !*stop_) start(where_, *stop_);
  }
  static void start(const Scheduler& where, const bool& stop) {
    AbortController controller;
    where.post([last = Endless(where, stop)] {}, {.signal = controller.signal()});
    controller.abort();
  }

 private:
  Scheduler where_;
  const bool* stop_;
};

// Rule: SCO-6: it need not wait for tasks of others.
TEST_F(WaitingDestructor, scope_when_other_tasks_are_aborted_all_the_time_then_it_ends) {
  bool stop = false;
  loop.scheduler().post([&] {
    {
      TaskScope scope(loop.scheduler());
      scope.start([last = Touching(touched)] {});
      for (int i = 0; i < 1000; ++i) Endless::start(loop.scheduler(), stop);
    }
    stop = true;
    EXPECT_EQ(touched, 1);
  });
  loop.run_until_idle();
  EXPECT_EQ(touched, 1);
}

}  // namespace
}  // namespace heist::support
