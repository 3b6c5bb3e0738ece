// Queues that run empty and are filled again within one task: no task is lost to the clean-up
// (ORD-6).
#include <string>

#include "support/posted_from.hpp"
#include "support/threads.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using namespace support;  // NOLINT(google-build-using-namespace): the whole of it is for tests
using testing::ElementsAre;

/// The parameter is where the abort is called.
class Ord6Refill : public VirtualLoopFixture, public testing::WithParamInterface<Origin> {
 protected:
  void abort(AbortController& controller) {
    if (GetParam() == Origin::other_thread) return on_thread([&] { controller.abort(); });
    controller.abort();
  }
};
INSTANTIATE_TEST_SUITE_P(Origins, Ord6Refill, testing::Values(Origin::task, Origin::other_thread),
                         origin_name);

// Rule: ORD-6; the posttask corpus's FORMAT.md 11, where the specification's letter loses the new
//         task.
TEST_P(Ord6Refill, static_queue_when_its_task_aborts_the_last_one_and_posts_then_the_new_one_runs) {
  for (const auto priority : {background, user_visible, user_blocking}) {
    AbortController last;
    scheduler.post(tracked([&] {
                     abort(last);
                     post("new", {.priority = priority});
                   }),
                   {.priority = priority});
    post("last", {.signal = last.signal(), .priority = priority});
    EXPECT_THAT(run(), ElementsAre("new"));
  }
}

// Rule: ORD-6, PRI-4
TEST_P(Ord6Refill, dynamic_queues_when_one_is_emptied_by_an_abort_then_the_other_is_refilled) {
  TaskController kept(user_visible);
  TaskController dropped(user_visible);
  scheduler.post(tracked([&] {
                   abort(dropped);
                   kept.set_priority(background);
                   post("kept, dynamic", {.signal = kept.signal()});
                   post("static", {.priority = background});
                 }),
                 {.signal = kept.signal()});
  post("dropped", {.signal = dropped.signal()});
  EXPECT_THAT(run(), ElementsAre("kept, dynamic", "static"));
}

// Rule: ORD-6, ABT-4. What was aborted is cleared away later than the queue was filled again.
TEST_P(Ord6Refill, queue_when_many_aborted_tasks_leave_it_portion_by_portion_then_no_other_does) {
  constexpr int count = 100;
  AbortController aborted;
  for (int i = 0; i < count; ++i) {
    post("never", {.signal = aborted.signal(), .priority = user_visible});
  }
  scheduler.post(tracked([&] {
                   abort(aborted);
                   for (int i = 0; i < count; ++i) post("new", {.priority = user_visible});
                 }),
                 {.priority = user_blocking});
  EXPECT_THAT(run(), testing::AllOf(testing::SizeIs(count), testing::Each("new")));
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
