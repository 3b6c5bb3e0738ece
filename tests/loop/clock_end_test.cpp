// The virtual clock has an end, and delays near it are never due; a test that hangs has failed.
#include <chrono>

#include "support/virtual_loop_fixture.hpp"

namespace heist {
namespace {

using namespace support;  // NOLINT(google-build-using-namespace): the whole of it is for tests
using testing::ElementsAre;

constexpr auto end_of_time = std::chrono::nanoseconds::max();

class Dly3ClockEnd : public VirtualLoopFixture {
 protected:
  void TearDown() override {
    loop.close(CloseMode::abort());  // with what is never due
    VirtualLoopFixture::TearDown();
  }
};

// Rule: DLY-3
TEST_F(Dly3ClockEnd, advance_when_a_delay_is_due_beyond_the_last_tick_then_returns) {
  loop.advance(end_of_time - 1us);
  post("delayed", {.delay = 500ns});
  loop.advance(1us);
  EXPECT_EQ(loop.now(), end_of_time);
}

// Rule: DLY-3
TEST_F(Dly3ClockEnd, advance_when_to_the_end_in_one_step_then_returns) {
  post("delayed", {.delay = end_of_time - 1ns});
  loop.advance(end_of_time);
  EXPECT_EQ(loop.now(), end_of_time);
}

// Rule: DLY-3
TEST_F(Dly3ClockEnd, advance_when_at_the_end_already_then_runs_what_is_runnable) {
  loop.advance(end_of_time);
  post("delayed", {.delay = 1ns});
  post("task");
  loop.advance(end_of_time);
  EXPECT_THAT(trace.take(), ElementsAre("task"));
}

}  // namespace
}  // namespace heist
