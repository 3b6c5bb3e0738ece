// Rule: LIF-1: while a loop drains, what its tasks post is taken, from a loop nested in one of them
//         as well.
#include <gtest/gtest.h>

#include <heist/heist.hpp>

#include "api/probes.hpp"

namespace heist {
namespace {

using test::Trace;

class Lif1DrainNested : public test::LoopTest {
 protected:
  /// Drains the loop; a task of a loop nested in one of its tasks does the work.
  template <class Work>
  CloseReport drain_with_nested(Work work) {
    scheduler.post([&work] {
      EventLoop inner(test::on_virtual_clock());
      inner.scheduler().post(work);
      inner.run_until_idle();
    });
    return loop.close(CloseMode::drain());
  }
};

// Rule: LIF-1
TEST_F(Lif1DrainNested, post_when_from_a_loop_nested_in_a_draining_task_then_it_runs) {
  bool accepted = false;
  const auto report = drain_with_nested([&] { accepted = scheduler.post(note("posted")); });
  EXPECT_TRUE(accepted);
  EXPECT_EQ(trace, (Trace{"posted"}));
  EXPECT_EQ(report, (CloseReport{.ran = 2}));
}

// Rule: LIF-1
TEST_F(Lif1DrainNested, post_task_when_from_a_loop_nested_in_a_draining_task_then_it_runs) {
  auto promise = Promise<int>::resolved(0);
  drain_with_nested([&] { promise = scheduler.post_task([] { return 1; }); });
  EXPECT_EQ(promise.get(), 1);
}

}  // namespace
}  // namespace heist
