// Rule: ABT-5: what a task threw goes with its promise, however long the task's signal lives.
#include <gtest/gtest.h>

#include <exception>
#include <heist/heist.hpp>
#include <memory>
#include <utility>

#include "api/probes.hpp"

namespace heist {
namespace {

/// An exception whose life can be watched.
class Watched : public std::exception {
 public:
  explicit Watched(std::shared_ptr<int> probe) : probe_(std::move(probe)) {}

 private:
  std::shared_ptr<int> probe_;
};

class Abt5Exceptions : public test::LoopTest {
 protected:
  [[nodiscard]] Promise<void> fail() {
    auto promise = scheduler.post_task([probe = probe] { throw Watched(probe); },
                                       {.signal = controller.signal()});
    loop.run_until_idle();
    EXPECT_TRUE(test::is<Watched>(promise.reason()));
    return promise;
  }

  AbortController controller;
  const std::shared_ptr<int> probe = std::make_shared<int>();
};

// Rule: ABT-5 (that the exception is kept at all)
TEST_F(Abt5Exceptions, exception_when_a_handle_is_left_then_alive) {
  const auto promise = fail();
  EXPECT_EQ(probe.use_count(), 2);
}

// Rule: ABT-5
TEST_F(Abt5Exceptions, exception_when_the_last_handle_goes_before_the_signal_then_destroyed) {
  static_cast<void>(fail());
  EXPECT_EQ(probe.use_count(), 1);
}

// Rule: ABT-5. The callback's own promise decides; its reason is held by both.
TEST_F(Abt5Exceptions, exception_when_it_came_by_an_adopted_promise_then_destroyed_as_well) {
  {
    const auto promise = scheduler.post_task(
        [probe = probe] { return Promise<int>::rejected(Reason(Watched(probe))); },
        {.signal = controller.signal()});
    loop.run_until_idle();
    EXPECT_TRUE(test::is<Watched>(promise.reason()));
  }
  EXPECT_EQ(probe.use_count(), 1);
}

}  // namespace
}  // namespace heist
