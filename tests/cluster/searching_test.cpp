// Rule: CLU-3. An agent that looks for work may be counted on by whoever posts, so no code of users
//         runs meanwhile.
#include <functional>
#include <memory>
#include <stdexcept>

#include "cluster/cluster_fixture.hpp"

namespace heist::support {

using namespace detail;
namespace {

using namespace std::chrono_literals;

/// Acts when its last copy goes.
struct Parting : std::runtime_error {
  explicit Parting(std::function<void()> action)
      : runtime_error("parting"),
        at_end(nullptr, [action = std::move(action)](void*) { action(); }) {}
  std::shared_ptr<void> at_end;
};

class Searching : public ClusterOf {
 protected:
  /// What an agent that was got up from sleep destroys, and the agents that sleep meanwhile.
  void destroy_when_woken(std::shared_ptr<void> object) {
    AbortController controller;
    bound(0).post([object = std::move(object)] {}, {.signal = controller.signal(), .delay = 1h});
    fall_asleep();
    controller.abort();
  }
  /// A task that the caller posts is run by another agent.
  [[nodiscard]] bool others_help() {
    auto ran = std::make_shared<std::atomic<bool>>(false);
    scheduler().post([ran] { *ran = true; });
    return comes_true([&] { return ran->load(); });
  }
};
INSTANTIATE_TEST_SUITE_P(Sizes, Searching, several_agents, size_name);

TEST_P(Searching, callback_when_destroyed_by_a_woken_agent_then_others_take_what_it_posts) {
  test::Gate done;
  destroy_when_woken(std::shared_ptr<void>(nullptr, [&](void*) {
    EXPECT_TRUE(others_help());
    done.open();
  }));
  done.wait();
}

TEST_P(Searching, exception_when_forgotten_by_a_woken_agent_then_others_take_what_it_posts) {
  test::Gate done;
  destroy_when_woken(std::shared_ptr<void>(nullptr, [&](void*) {
    const auto rejected = Promise<int>::rejected(Reason(Parting([&] {
      EXPECT_TRUE(others_help());
      done.open();
    })));
    EXPECT_THROW(static_cast<void>(rejected.get()), Parting);  // remembered from here on
  }));
  done.wait();
}

}  // namespace
}  // namespace heist::support
