// Subscription: a listener's place with a signal, for as long as the object lives.
#pragma once

#include <cstdint>
#include <heist/detail/ref.hpp>
#include <heist/detail/scheduling_state.hpp>
#include <utility>

namespace heist {

class Listener;
void retain(Listener& listener) noexcept;
void release(Listener& listener) noexcept;

/// Scoped registration of a listener; move-only. Destroying it removes the listener; when that
/// listener runs on another thread at the moment, the removal waits for it, as std::stop_callback
/// does (ABT-7). A listener may remove itself.
///
/// Thread: any, one at a time.   Lifetime: may outlive the signal.
class [[nodiscard]] Subscription {
 public:
  /// Which event a listener waits for.
  enum class Event : std::uint8_t { abort, priority_change };

  Subscription() noexcept = default;
  Subscription(Subscription&&) noexcept = default;
  Subscription& operator=(Subscription&& other) noexcept {
    Subscription moved(std::move(other));
    std::swap(listener_, moved.listener_);
    std::swap(signal_, moved.signal_);
    std::swap(event_, moved.event_);
    return *this;
  }
  ~Subscription() { reset(); }

  /// Removes the listener now.
  void reset() noexcept;

  /// True while the listener may still be called, or its last call is under way.
  [[nodiscard]] bool active() const noexcept;

  /// For the library.
  Subscription(Ref<Listener> listener, Ref<SignalCore> signal, Event event) noexcept
      : listener_(std::move(listener)), signal_(std::move(signal)), event_(event) {}

 private:
  Ref<Listener> listener_;
  Ref<SignalCore> signal_;
  Event event_ = Event::abort;
};

}  // namespace heist
