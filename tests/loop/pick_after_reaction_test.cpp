// A pick begins after the reactions that other threads settled have run (ORD-3, YLD-4).
#include <heist/promise.hpp>

#include "support/threads.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace heist {
namespace {

using namespace support;  // NOLINT(google-build-using-namespace): the whole of it is for tests
using testing::ElementsAre;

class Ord3Reaction : public VirtualLoopFixture {
 protected:
  /// Has another thread settle a promise whose reaction does the work.
  template <class Work>
  void react_with(Work work) {
    auto [promise, resolver] = Promise<void>::with_resolver();
    in_task([&, source = promise] { static_cast<void>(source.then(work)); });
    on_thread([&settler = resolver] { settler.resolve(); });
  }
};

// Rule: ORD-3
TEST_F(Ord3Reaction, pick_when_a_reaction_saw_another_thread_post_then_that_task_is_considered) {
  post("older");
  react_with([this] { on_thread([this] { post("urgent", {.priority = user_blocking}); }); });
  EXPECT_THAT(run(), ElementsAre("urgent", "older"));
}

// Rule: ORD-3
TEST_F(Ord3Reaction, pick_when_a_reaction_posts_a_higher_task_then_it_is_next) {
  post("older");
  react_with([this] { post("urgent", {.priority = user_blocking}); });
  EXPECT_THAT(run(), ElementsAre("urgent", "older"));
}

// Rule: PRI-3
TEST_F(Ord3Reaction, pick_when_a_reaction_saw_another_thread_change_a_priority_then_it_counts) {
  TaskController controller(background);
  post("raised", {.signal = controller.signal()});
  post("user-visible");
  react_with([&] { on_thread([&] { controller.set_priority(user_blocking); }); });
  EXPECT_THAT(run(), ElementsAre("raised", "user-visible"));
}

// Rule: ABT-2
TEST_F(Ord3Reaction, pick_when_a_reaction_saw_another_thread_abort_then_the_task_does_not_start) {
  AbortController controller;
  post("never", {.signal = controller.signal()});
  post("other");
  react_with([&] { on_thread([&] { controller.abort(); }); });
  EXPECT_THAT(run(), ElementsAre("other"));
}

}  // namespace
}  // namespace heist
