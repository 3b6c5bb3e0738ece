// RuntimeFixture: a test that leaves nothing behind.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "support/error_recorder.hpp"
#include "support/live_count.hpp"
#include "support/trace.hpp"

namespace heist::support {

/// The test fails if a tracked callback is alive at its end, or if an error was reported that it
/// did not take.
class RuntimeFixture : public testing::Test {
 protected:
  void TearDown() override {
    if (IsSkipped()) return;
    EXPECT_EQ(callbacks.alive(), 0) << "callbacks not destroyed";
    EXPECT_THAT(errors.take(), testing::IsEmpty());
  }

  /// Tracks the callback, which must be gone at the end of the test.
  template <class Callback>
  [[nodiscard]] auto tracked(Callback callback) const {
    return callbacks.track(std::move(callback));
  }

  /// Returns a tracked callback that adds the label to the trace.
  [[nodiscard]] auto note(std::string label) {
    return tracked([this, label = std::move(label)] { trace.add(label); });
  }

  ErrorRecorder errors;
  LiveCount callbacks;
  Trace trace;
};

}  // namespace heist::support
