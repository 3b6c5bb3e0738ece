// VirtualLoopFixture: one event loop on a virtual clock, which the test's own thread drives; or,
// with HEIST_TEST_AGENTS, an agent of a cluster.
#pragma once

#include <functional>
#include <heist/event_loop.hpp>
#include <heist/scheduler.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/origin.hpp"
#include "support/priorities.hpp"
#include "support/runtime_fixture.hpp"
#include "support/tested_loop.hpp"

namespace heist::support {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""ns;
using std::chrono_literals::operator""us;

/// Everything is deterministic: tasks run, and time moves, when the test says so. Other threads may
/// post, abort and re-prioritise, and between two calls of the loop so may the test's thread.
///
/// The test fails if something is queued, delayed, or waits to be cleared away at its end.
class VirtualLoopFixture : public RuntimeFixture {
 protected:
  void TearDown() override;

  /// These two post a task that adds the label to the trace: without a promise, and with one.
  bool post(std::string label, const PostTaskOptions& options = {}) {
    return scheduler.post(note(std::move(label)), options);
  }
  Promise<void> post_task(std::string label, const PostTaskOptions& options = {}) {
    return scheduler.post_task(note(std::move(label)), options);
  }

  /// Runs `body` as the loop's next task, whatever is queued. Everything else runs only afterwards.
  void in_task(const std::function<void()>& body);

  /// Does the work in the given place, and waits for its end.
  void from(Origin origin, const std::function<void()>& work);

  /// Lets the loop take what was posted, without running any of it.
  void arrive() { static_cast<void>(loop.pending()); }

  /// Runs everything that is runnable. Returns the labels traced since the last call.
  std::vector<std::string> run() {
    loop.run_until_idle();
    return trace.take();
  }

  TestedLoop loop;
  Scheduler scheduler = loop.scheduler();
};

}  // namespace heist::support
