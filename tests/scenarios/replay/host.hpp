// What runs the tasks of a scenario: an event loop, or a cluster.
#pragma once

#include <chrono>
#include <functional>
#include <heist/scheduler.hpp>
#include <memory>

#include "scenarios/replay/replay.hpp"

namespace heist::test {

/// Runs one scenario, once.
///
/// Thread: its maker's, but for spend().
class Host {
 public:
  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  virtual ~Host() = default;

  [[nodiscard]] virtual Scheduler scheduler() const = 0;
  /// Runs `first` as a plain task, and then everything to the end. False: tasks are left that never
  /// run.
  [[nodiscard]] virtual bool run(std::function<void()> first) = 0;
  /// The running task takes that long.   Errors: std::logic_error without a virtual clock.
  virtual void spend(std::chrono::milliseconds time) = 0;
};

[[nodiscard]] std::unique_ptr<Host> make_host(const ReplayOptions& options);

}  // namespace heist::test
