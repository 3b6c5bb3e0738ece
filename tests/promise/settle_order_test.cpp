// Rule: PRO-1, YLD-4: reactions run in the order in which they were attached, whoever settles the
//         promise meanwhile.
#include <gtest/gtest.h>

#include <heist/heist.hpp>
#include <string>
#include <utility>

#include "api/probes.hpp"
#include "support/live_count.hpp"

namespace heist {
namespace {

using support::AtDestruction;
using test::Trace;

class Yld4SettleOrder : public test::LoopTest {
 protected:
  void react(std::string line) { static_cast<void>(source.promise.then(note(std::move(line)))); }
  void settle_on_another_thread() {
    test::on_plain_thread([this] { source.resolver.resolve(); });
  }

  PromiseWithResolver<void> source = Promise<void>::with_resolver();
};

// Rule: YLD-4
TEST_F(Yld4SettleOrder, then_when_another_thread_settled_in_between_then_behind_the_earlier_one) {
  run_task([this] {
    react("1");
    settle_on_another_thread();
    react("2");
  });
  EXPECT_EQ(trace, (Trace{"1", "2"}));
}

Promise<void> follow(Promise<void> source, Trace& trace, const char* line) {
  co_await source;
  trace.emplace_back(line);
}

// Rule: YLD-4
TEST_F(Yld4SettleOrder, await_when_another_thread_settled_in_between_then_behind_the_earlier_one) {
  run_task([this] {
    static_cast<void>(follow(source.promise, trace, "1"));
    settle_on_another_thread();
    static_cast<void>(follow(source.promise, trace, "2"));
  });
  EXPECT_EQ(trace, (Trace{"1", "2"}));
}

// Rule: YLD-4
TEST_F(Yld4SettleOrder, reactions_when_thens_and_awaits_are_mixed_then_still_in_order) {
  run_task([this] {
    react("1");
    static_cast<void>(follow(source.promise, trace, "2"));
    settle_on_another_thread();
    static_cast<void>(follow(source.promise, trace, "3"));
    react("4");
  });
  EXPECT_EQ(trace, (Trace{"1", "2", "3", "4"}));
}

// Rule: YLD-4. The settling thread is amid its deliveries: the first reaction's loop is gone.
TEST_F(Yld4SettleOrder, then_when_attached_while_others_are_delivered_then_behind_them) {
  {
    const EventLoop closed(test::on_virtual_clock());
    auto last_words = [this] {
      static_cast<void>(source.promise.then(scheduler, note("attached meanwhile")));
    };
    static_cast<void>(
        source.promise.then(closed.scheduler(), [end = AtDestruction(std::move(last_words))] {}));
  }
  static_cast<void>(source.promise.then(scheduler, note("attached before")));
  source.resolver.resolve();
  loop.run_until_idle();
  EXPECT_EQ(trace, (Trace{"attached before", "attached meanwhile"}));
}

// Rule: YLD-4
TEST_F(Yld4SettleOrder, reaction_when_others_are_in_the_inbox_then_behind_them) {
  run_task([this] {
    react("from another thread");
    settle_on_another_thread();
    static_cast<void>(Promise<void>::resolved().then(note("local")));
  });
  EXPECT_EQ(trace, (Trace{"from another thread", "local"}));
}

// Rule: YLD-4
TEST_F(Yld4SettleOrder, queue_microtask_when_reactions_are_in_the_inbox_then_behind_them) {
  run_task([this] {
    react("from another thread");
    settle_on_another_thread();
    queue_microtask(note("microtask"));
  });
  EXPECT_EQ(trace, (Trace{"from another thread", "microtask"}));
}

}  // namespace
}  // namespace heist
