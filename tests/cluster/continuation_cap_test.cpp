// Rule: YLD-6 in a cluster. Continuations that went first for long enough let a task of their
//         priority pass.
#include <gmock/gmock.h>

#include "cluster_fixture.hpp"

namespace heist::support {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

/// One agent is free, and whatever it runs takes longer than the cap.
class ClusterYld6 : public ClusterFixture, public testing::WithParamInterface<unsigned> {
 protected:
  void start_with_cap(std::chrono::nanoseconds cap) {
    start({.agents = GetParam(), .loop = {.continuation_cap = cap}});
  }
  void take_time(std::string label) {
    trace.add(std::move(label));
    const auto start = std::chrono::steady_clock::now();
    wait_until([&] { return std::chrono::steady_clock::now() > start + 1us; });
  }
  /// Yields so many times.
  Promise<void> busy(std::string label, int turns) {
    for (int turn = 1; turn <= turns; ++turn) {
      co_await heist::yield();
      take_time(label + std::to_string(turn));
    }
  }
  void post(const Scheduler& to, const char* label, TaskPriority priority = user_visible) {
    to.post(note(label), {.priority = priority});
  }
  /// What ran, on the first agent alone; posted while none is free.
  template <class Post>
  std::vector<std::string> run(Post post_all) {
    HeldAgents held(cluster());
    const Promise<void> last = post_all();
    held.let_go(0);
    last.get();
    return trace.take();
  }
};

TEST_P(ClusterYld6, continuations_when_they_go_for_the_cap_then_one_task_of_their_priority_passes) {
  start_with_cap(1ns);
  const auto ran = run([this] {
    static_cast<void>(scheduler().post_task([this] { return busy("y", 4); }));
    post(scheduler(), "a");
    post(scheduler(), "b");
    return scheduler().post_task(note("background"), {.priority = background});
  });
  EXPECT_THAT(ran, ElementsAre("y1", "a", "y2", "b", "y3", "y4", "background"));
}

TEST_P(ClusterYld6, continuations_when_there_is_no_cap_then_no_task_passes) {
  start_with_cap(0ns);
  const auto ran = run([this] {
    static_cast<void>(scheduler().post_task([this] { return busy("y", 3); }));
    return scheduler().post_task(note("a"));
  });
  EXPECT_THAT(ran, ElementsAre("y1", "y2", "y3", "a"));
}

TEST_P(ClusterYld6, continuations_when_something_higher_waits_then_that_goes_and_no_task_passes) {
  start_with_cap(1ns);
  const auto ran = run([this] {
    static_cast<void>(scheduler().post_task([this]() -> Promise<void> {
      co_await heist::yield();
      take_time("y");
      post(scheduler(), "high", user_blocking);
      co_await heist::yield();
      take_time("z");
    }));
    return scheduler().post_task(note("a"));
  });
  EXPECT_THAT(ran, ElementsAre("y", "high", "z", "a"));
}

TEST_P(ClusterYld6, continuations_when_bound_and_stealable_tasks_wait_then_they_pass_by_turns) {
  start_with_cap(1ns);
  const auto ran = run([this] {
    return scheduler().post_task([this] {
      for (int i = 0; i < 2; ++i) {
        post(bound(0), "bound");
        post(scheduler(), "stealable");
      }
      return busy("y", 5);
    });
  });
  EXPECT_THAT(
      ran, ElementsAre("y1", "bound", "y2", "stealable", "y3", "bound", "y4", "stealable", "y5"));
}

TEST_P(ClusterYld6, bound_continuations_when_they_go_for_the_cap_then_a_stealable_task_passes) {
  start_with_cap(1ns);
  const auto ran = run([this] {
    const auto last = bound(0).post_task([this] { return busy("y", 3); });
    post(scheduler(), "a");
    return last;
  });
  EXPECT_THAT(ran, ElementsAre("y1", "a", "y2", "y3"));
}

INSTANTIATE_TEST_SUITE_P(Sizes, ClusterYld6, sizes, size_name);

}  // namespace
}  // namespace heist::support
