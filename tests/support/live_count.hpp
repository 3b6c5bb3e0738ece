// LiveCount: tells whether everything that a test handed out was destroyed.
#pragma once

#include <memory>
#include <utility>

namespace heist::support {

/// Counts the copies of its probe that are alive. Capture a probe in a callback to see the callback
/// die.
///
/// Thread: any. The count is exact once the threads that hold probes were joined.
class LiveCount {
 public:
  using Probe = std::shared_ptr<const void>;

  [[nodiscard]] Probe probe() const { return token_; }
  [[nodiscard]] long alive() const { return token_.use_count() - 1; }

  /// Returns the callback with a probe in it.
  template <class Callback>
  [[nodiscard]] auto track(Callback callback) const {
    return [probe = probe(), callback = std::move(callback)]() mutable -> decltype(auto) {
      return callback();
    };
  }

 private:
  std::shared_ptr<const int> token_ = std::make_shared<const int>(0);
};

/// Calls `action()` when it is destroyed, wherever that happens. It can be moved, so it fits into a
/// callback.
template <class Action>
class AtDestruction {
 public:
  explicit AtDestruction(Action action) : action_(std::make_unique<Action>(std::move(action))) {}
  AtDestruction(AtDestruction&&) noexcept = default;
  AtDestruction& operator=(AtDestruction&&) = delete;
  ~AtDestruction() {
    if (action_) (*action_)();
  }

 private:
  std::unique_ptr<Action> action_;
};

}  // namespace heist::support
