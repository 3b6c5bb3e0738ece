// Pause and KindPauses: what may not start now.
#pragma once

#include <heist/detail/sync.hpp>
#include <heistd/kind.hpp>
#include <map>
#include <memory>

namespace heistd {

/// Whether jobs of something may not start. Those that run go on.
///
/// Thread: the network's; is_on() on any.
class Pause {
 public:
  void set(bool on) noexcept { on_.store(on, heist::detail::sync::relaxed); }
  [[nodiscard]] bool is_on() const noexcept {
    // relaxed: a job that starts in the same moment has started before.
    return on_.load(heist::detail::sync::relaxed);
  }

 private:
  heist::detail::sync::atomic<bool> on_{false};
};

/// The kinds of which a client's jobs may not start.
///
/// Thread: the network's.
class KindPauses {
 public:
  /// Errors: std::bad_alloc.
  [[nodiscard]] std::shared_ptr<Pause> of(const Kind& kind) {
    auto& pause = pauses_[&kind];
    if (!pause) pause = std::make_shared<Pause>();
    return pause;
  }
  [[nodiscard]] bool is_on(const Kind& kind) const noexcept {
    const auto found = pauses_.find(&kind);
    return found != pauses_.end() && found->second && found->second->is_on();
  }

 private:
  std::map<const Kind*, std::shared_ptr<Pause>> pauses_;
};

}  // namespace heistd
