// Signals and std::stop_token, both ways.
#pragma once

#include <heist/detail/listener.hpp>
#include <optional>
#include <stop_token>

#include "signal_core.hpp"

namespace HEIST_NAMESPACE::detail {

/// A signal that a std::stop_token aborts.
///
/// I1  The callback touches the signal only with a reference, which it gets unless the last one has
///     gone. The signal's end waits for a callback that runs on another thread meanwhile.
class StopSignal final : public SignalCore {
 public:
  /// Errors: std::bad_alloc.
  [[nodiscard]] static Ref<SignalCore> make(const std::stop_token& token);

  StopSignal() noexcept : SignalCore(SignalForm::stop) {}
  ~StopSignal() = default;

  /// Called when the last reference has gone.
  void end_stop() noexcept;

 private:
  struct Callback {
    StopSignal* signal;
    void operator()() const noexcept;
  };
  std::optional<std::stop_callback<Callback>> callback_;
};

/// The stop state behind the tokens of a signal: a listener that requests the stop.
class StopBridge final : public Listener {
 public:
  /// Errors: std::bad_alloc.
  StopBridge() : Listener(&call, &discard, &destroy) {}

  [[nodiscard]] std::stop_token token() const noexcept { return source_.get_token(); }
  void request_stop() noexcept { source_.request_stop(); }

 private:
  static void call(Listener& listener, SignalEvent& event);
  static void discard(Listener& listener) noexcept;
  static void destroy(Listener& listener) noexcept;

  std::stop_source source_;
};

}  // namespace HEIST_NAMESPACE::detail
