// Rule: PRO-1, LIF-1: reactions whose loop is closed, when their end has reactions in turn.
#include <gtest/gtest.h>

#include <chrono>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/probes.hpp"

namespace heist {
namespace {

class Lif1Undeliverable : public test::LoopTest {
 protected:
  [[nodiscard]] Promise<int> then_on_closed(const Promise<int>& from) const {
    return from.then(closed, [](int value) { return value; });
  }
  [[nodiscard]] auto note_rejection(const std::string& line) {
    return [this, line](const Reason&) {
      trace.push_back(line);
      return 0;
    };
  }

  PromiseWithResolver<int> source = Promise<int>::with_resolver();
  const Scheduler closed = [] {
    EventLoop gone(test::on_virtual_clock());
    return gone.scheduler();
  }();
};

// Rule: PRO-1
TEST_F(Lif1Undeliverable, reactions_when_a_drop_drops_others_in_turn_then_oldest_first) {
  const auto outer = then_on_closed(source.promise);
  std::vector<Promise<int>> kept;
  for (const char* name : {"first", "second", "third"}) {
    kept.push_back(then_on_closed(outer).then(
        scheduler, [](int value) { return value; }, note_rejection(name)));
  }
  source.resolver.resolve(1);
  loop.run_until_idle();
  EXPECT_EQ(trace, (test::Trace{"first", "second", "third"}));
}

// Rule: CLU-5, LIF-1
TEST_F(Lif1Undeliverable, wait_when_within_a_drop_for_a_sibling_then_that_is_dropped_first) {
  bool settled = false;
  std::optional<Promise<int>> second;
  auto at_end =
      std::shared_ptr<void>(nullptr, [&](void*) { settled = second->wait_for(test::patience); });
  const auto first =
      source.promise.then(closed, [at_end = std::move(at_end)](int value) { return value; });
  second = then_on_closed(source.promise);
  source.resolver.resolve(1);
  EXPECT_TRUE(settled);
}

// Rule: CLU-5, LIF-1
TEST_F(Lif1Undeliverable, wait_when_within_a_drop_then_what_it_waits_for_is_dropped_first) {
  bool settled = false;
  auto at_end = std::shared_ptr<void>(nullptr, [&](void*) {
    settled = then_on_closed(Promise<int>::resolved(1)).wait_for(test::patience);
  });
  const auto outer =
      source.promise.then(closed, [at_end = std::move(at_end)](int value) { return value; });
  source.resolver.resolve(1);
  EXPECT_TRUE(settled);
}

}  // namespace
}  // namespace heist
