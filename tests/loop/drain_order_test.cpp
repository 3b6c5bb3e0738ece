// Users' destructors that run while the loop takes its inbox: what they post is younger than all
// that was posted before.
#include <memory>
#include <optional>
#include <utility>

#include "support/live_count.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace heist {
namespace {

using namespace support;  // NOLINT(google-build-using-namespace): the whole of it is for tests
using testing::ElementsAre;

class Ord2Drain : public VirtualLoopFixture {};

// Rule: ORD-2. The message of the change is the signal's last holder, and the signal that of its
//         abort reason.
TEST_F(Ord2Drain, post_when_by_the_last_holder_of_a_message_then_after_what_was_posted_before) {
  auto controller = std::make_optional<TaskController>();
  post("attaches the signal", {.signal = controller->signal()});
  EXPECT_THAT(run(), ElementsAre("attaches the signal"));
  const auto last_words = [this] { post("destructor"); };
  controller->abort(std::make_shared<AtDestruction<decltype(last_words)>>(last_words));
  controller->set_priority(background);
  post("before 1");
  post("before 2");
  controller.reset();
  EXPECT_THAT(run(), ElementsAre("before 1", "before 2", "destructor"));
}

}  // namespace
}  // namespace heist
