// A pick heeds what the destructors did that ran while aborted tasks were cleared away.
#include <heist/abort_signal.hpp>

#include "support/threads.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace heist {
namespace {

using namespace support;  // NOLINT(google-build-using-namespace): the whole of it is for tests
using testing::ElementsAre;

class Pri3Clearing : public VirtualLoopFixture {
 protected:
  /// Leaves an aborted task whose callback's destructor, in the next pick, does the work.
  template <class Work>
  void clear_away_with(Work work) {
    AbortController aborted;
    scheduler.post([end = AtDestruction(std::move(work))] {},
                   {.signal = aborted.signal(), .priority = background});
    arrive();
    aborted.abort();
  }

  TaskController controller{background};
};

// Rule: PRI-3
TEST_F(Pri3Clearing, pick_when_a_destructor_changes_a_priority_then_it_counts) {
  post("raised", {.signal = controller.signal()});
  post("user-visible");
  clear_away_with([this] { controller.set_priority(user_blocking); });
  EXPECT_THAT(run(), ElementsAre("raised", "user-visible"));
}

// Rule: PRI-3
TEST_F(Pri3Clearing, pick_when_a_destructor_saw_another_thread_change_a_priority_then_it_counts) {
  post("raised", {.signal = controller.signal()});
  post("user-visible");
  clear_away_with([this] { on_thread([this] { controller.set_priority(user_blocking); }); });
  EXPECT_THAT(run(), ElementsAre("raised", "user-visible"));
}

// Rule: ORD-3
TEST_F(Pri3Clearing, pick_when_a_destructor_saw_another_thread_post_then_that_task_is_considered) {
  post("older");
  clear_away_with([this] { on_thread([this] { post("urgent", {.priority = user_blocking}); }); });
  EXPECT_THAT(run(), ElementsAre("urgent", "older"));
}

// Rule: ABT-2
TEST_F(Pri3Clearing, pick_when_a_destructor_aborts_a_queued_task_then_it_does_not_start) {
  post("never", {.signal = controller.signal()});
  post("other", {.priority = background});
  clear_away_with([this] { controller.abort(); });
  EXPECT_THAT(run(), ElementsAre("other"));
}

}  // namespace
}  // namespace heist
