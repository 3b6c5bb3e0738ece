// Rules: PRO-1, PRI-3, LIF-1: what users' destructors find while a promise settles or a loop is
//         drained.
#include <gtest/gtest.h>

#include <functional>
#include <heist/heist.hpp>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "api/probes.hpp"
#include "support/error_recorder.hpp"
#include "support/live_count.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using AtEnd = support::AtDestruction<std::function<void()>>;

Promise<void> wait_with(Promise<int> source, AtEnd /*at_end*/) { co_await source; }

class Pro1Settling : public test::LoopTest {
 protected:
  Pro1Settling() {
    auto made = Promise<int>::with_resolver();
    source.emplace(std::move(made.promise));
    resolver.emplace(std::move(made.resolver));
  }

  /// A frame that waits for the source on a loop that is closed: dropped when the source settles.
  Promise<void> leave_a_frame_behind(std::function<void()> at_end) {
    EventLoop closed;
    std::optional<Promise<void>> result;
    closed.scheduler().post([&] { result = wait_with(*source, AtEnd(std::move(at_end))); });
    closed.run_until_idle();
    return *result;
  }

  std::optional<Promise<int>> source;
  std::optional<Resolver<int>> resolver;
};

// Rule: PRO-1
TEST_F(Pro1Settling, then_when_attached_by_a_frame_that_the_settling_drops_then_runs) {
  Agent other;
  int seen = 0;
  const auto dropped = leave_a_frame_behind(
      [&] { seen = source->then(other.scheduler(), [](int value) { return value + 1; }).get(); });
  resolver->resolve(1);
  EXPECT_EQ(seen, 2);
}

// Rule: LIF-1
TEST_F(Pro1Settling,
       coroutine_when_its_frame_is_dropped_then_rejects_after_its_parameters_are_gone) {
  std::optional<Promise<void>> dropped;
  std::optional<PromiseStatus> status;
  dropped = leave_a_frame_behind([&] { status = dropped->status(); });
  resolver->resolve(1);
  EXPECT_EQ(status, PromiseStatus::pending);
  EXPECT_TRUE(test::is<InvalidStateError>(dropped->reason()));
}

struct Restless {
  explicit Restless(std::function<void()> act) { act(), throw std::domain_error("no value"); }
};

// Rule: LIF-1
TEST_F(Pro1Settling,
       resolve_when_the_values_constructor_assigns_the_resolver_and_throws_then_both_settle) {
  auto [first, resolver_of_first] = Promise<Restless>::with_resolver();
  auto [second, resolver_of_second] = Promise<Restless>::with_resolver();
  const auto assign = [&, &to = resolver_of_first, &from = resolver_of_second] {
    to = std::move(from);
  };
  EXPECT_THROW(resolver_of_first.resolve(assign), std::domain_error);
  EXPECT_EQ(second.status(), PromiseStatus::rejected);
  resolver_of_first.reject(Reason("first"));
  EXPECT_EQ(first.reason().what(), "first");
}

class Pri3Released : public test::LoopTest {};

// Rule: PRI-3: a signal dies with the message that held it, and its reason's destructor
//         re-prioritises.
TEST_F(Pri3Released,
       set_priority_when_a_messages_signal_dies_in_the_drain_then_the_next_pick_uses_it) {
  TaskController high(TaskPriority::background);
  scheduler.post(note("moved"), {.signal = high.signal()});
  scheduler.post(note("unmoved"));
  auto dying = std::make_shared<TaskController>();
  scheduler.post([] {}, {.signal = dying->signal(), .priority = TaskPriority::user_blocking});
  scheduler.post(
      [&high, dying = std::move(dying)]() mutable {
        const auto raise = [&high] { high.set_priority(TaskPriority::user_blocking); };
        dying->abort(Reason(std::make_shared<AtEnd>(raise)));
        dying->set_priority(TaskPriority::background);
      },
      {.priority = TaskPriority::user_blocking});
  loop.run_until_idle();
  EXPECT_EQ(trace, (test::Trace{"moved", "unmoved"}));
}

class Abt1Detached : public testing::Test {};

// Rule: ABT-1, ABT-5: nobody holds the promise that the abort rejects while its agent lets go of
// it. (The sanitizers look on.)
TEST_F(Abt1Detached, abort_when_the_promises_are_detached_then_every_reason_goes) {
  const auto life = std::make_shared<int>(0);
  {
    Agent agent;
    for (int round = 0; round < 100; ++round) {
      TaskController controller;
      for (int i = 0; i < 64; ++i) {
        static_cast<void>(agent.scheduler().post_task([] {}, {.signal = controller.signal()}));
      }
      controller.abort(Reason(std::shared_ptr<int>(life)));
    }
    agent.close(CloseMode::drain());
  }
  EXPECT_EQ(life.use_count(), 1);
}

class Pro3Empty : public test::LoopTest {};

// Rule: PRO-3: an abort is not reported, whatever its reason.
TEST_F(Pro3Empty, aborted_when_it_carries_nothing_and_nobody_looks_then_not_reported) {
  const auto before = reported_error_count();
  scheduler.post([this] {
    static_cast<void>(scheduler.post_task([] { throw Aborted(Reason()); }));
    static_cast<void>(Promise<int>::resolved(1).then([](int) { throw Aborted(Reason()); }));
  });
  loop.run_until_idle();
  EXPECT_EQ(reported_error_count(), before);
}

using Row = std::vector<std::unique_ptr<int>>;

/// A handle to a row that others share: copyable, although its elements are not.
struct SharedRow {
  std::shared_ptr<Row> row = std::make_shared<Row>();
  [[nodiscard]] auto begin() const { return row->begin(); }
  [[nodiscard]] auto end() const { return row->end(); }
};
static_assert(is_copyable<SharedRow>);
/// As the values of JSON libraries: a range of its own kind.
struct Tree {
  using allocator_type = std::allocator<Tree>;
  [[nodiscard]] const Tree* begin() const { return nullptr; }
  [[nodiscard]] const Tree* end() const { return nullptr; }
};
static_assert(is_copyable<Tree>);

// Rule: PRO-1
TEST_F(Pro1Settling, get_when_a_map_holds_move_only_elements_then_the_value_is_moved_out) {
  auto promise = scheduler.post_task([] {
    std::map<int, Row> rows;
    rows[1].push_back(std::make_unique<int>(7));
    return rows;
  });
  loop.run_until_idle();
  EXPECT_EQ(*std::move(promise).get().at(1).front(), 7);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
