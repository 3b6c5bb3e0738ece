// Rule: ABT-5, CLU-3: letting go of a signal is work: a loop that still has to do it neither sleeps
//         nor is idle.
#include <gtest/gtest.h>
#include <poll.h>

#include <functional>
#include <heist/heist.hpp>
#include <memory>
#include <utility>

#include "api/probes.hpp"

namespace heist {
namespace {

using test::Trace;

/// Runs `action` when its last copy goes.
std::shared_ptr<void> at_end(std::function<void()> action) {
  return {nullptr, [action = std::move(action)](void*) { action(); }};
}

/// A controller whose signal this loop knows.
std::shared_ptr<TaskController> known_controller(const Scheduler& scheduler) {
  auto controller = std::make_shared<TaskController>();
  scheduler.post([] {}, {.signal = controller->signal()});
  return controller;
}

/// Leaves the signal to a message on its way to the loop: that drops the last share.
void leave_to_message(std::shared_ptr<TaskController> controller, Reason last_words) {
  controller->abort(std::move(last_words));
  controller->set_priority(TaskPriority::background);
}

bool is_readable(int descriptor) {
  pollfd entry{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&entry, 1, 0) == 1;
}

// Rule: CLU-3
TEST(Clu3Released,
     poll_when_a_reaction_took_the_message_then_the_descriptor_says_that_there_is_work) {
  EventLoop loop;
  const int descriptor = loop.wakeup_fd();
  const Scheduler scheduler = loop.scheduler();
  Trace trace;
  auto controller = known_controller(scheduler);
  loop.poll();
  auto source = Promise<int>::with_resolver();
  scheduler.post([&] {
    static_cast<void>(source.promise.then([](int) {}));
    leave_to_message(std::exchange(controller, nullptr), Reason(at_end([&] {
                       trace.emplace_back("gone");
                       scheduler.post([&] { trace.emplace_back("posted by it"); });
                     })));
    source.resolver.resolve(1);
  });
  while (is_readable(descriptor)) loop.poll();
  EXPECT_EQ(trace, (Trace{"gone", "posted by it"}));
}

// Rule: CLU-3
TEST(Clu3Released, pending_when_a_signal_is_to_be_released_then_runs_no_destructor) {
  EventLoop loop;
  const Scheduler scheduler = loop.scheduler();
  bool gone = false;
  auto controller = known_controller(scheduler);
  loop.run_until_idle();
  test::on_plain_thread([&] {
    leave_to_message(std::exchange(controller, nullptr), Reason(at_end([&] { gone = true; })));
  });
  static_cast<void>(loop.pending());
  EXPECT_FALSE(gone);
  loop.run_until_idle();
  EXPECT_TRUE(gone);
}

/// A signal whose end lets go of another one.
void leave_chain_to_messages(std::shared_ptr<TaskController> first,
                             std::shared_ptr<TaskController> second, Reason last_words) {
  second->abort(std::move(last_words));
  leave_to_message(std::move(first), Reason(at_end([second = std::move(second)]() mutable {
                     second->set_priority(TaskPriority::background);
                     second.reset();
                   })));
}

// Rule: ABT-5
TEST(Abt5Released, run_until_idle_when_one_end_releases_another_signal_then_both_are_gone) {
  EventLoop loop;
  const Scheduler scheduler = loop.scheduler();
  bool gone = false;
  auto first = known_controller(scheduler);
  auto second = known_controller(scheduler);
  loop.run_until_idle();
  scheduler.post([&] {
    leave_chain_to_messages(std::move(first), std::move(second),
                            Reason(at_end([&] { gone = true; })));
  });
  loop.run_until_idle();
  EXPECT_TRUE(gone);
}

// Rule: CLU-3
TEST(Clu3Released, agent_when_one_end_releases_another_signal_then_does_not_sleep_before) {
  Agent agent;
  const Scheduler scheduler = agent.scheduler();
  test::Gate gone;
  scheduler.post([&gone, scheduler] {
    auto first = known_controller(scheduler);
    auto second = known_controller(scheduler);
    scheduler.post([&gone, first = std::move(first), second = std::move(second)]() mutable {
      leave_chain_to_messages(std::move(first), std::move(second),
                              Reason(at_end([&gone] { gone.open(); })));
    });
  });
  EXPECT_TRUE(gone.opens());
}

}  // namespace
}  // namespace heist
