// YieldFixture: tasks that yield, among others.
#pragma once

#include <gmock/gmock.h>

#include <heist/heist.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/virtual_loop_fixture.hpp"

namespace heist::support {

class YieldFixture : public VirtualLoopFixture {
 protected:
  /// Adds `label0`, and `label1`… after each of `turns` yields.
  Promise<void> yielder(std::string label, int turns, YieldOptions options = {}) {
    trace.add(label + "0");
    for (int turn = 1; turn <= turns; ++turn) {
      co_await heist::yield(options);
      trace.add(label + std::to_string(turn));
    }
  }

  /// Yields among a task of each level; where "continuation" comes shows with which priority.
  Promise<void> compete(YieldOptions options = {}) {
    post_one_of_each_level();
    co_await heist::yield(options);
    trace.add("continuation");
  }
  void post_one_of_each_level() {
    post("blocking", {.priority = user_blocking});
    post("visible");
    post("background", {.priority = background});
  }
  /// What runs, in order, when compete() goes on with this priority.
  static std::vector<std::string> order_with(TaskPriority priority) {
    std::vector<std::string> order{"blocking", "visible", "background"};
    order.insert(order.begin() + (2 - static_cast<int>(priority)), "continuation");
    return order;
  }
};

}  // namespace heist::support
