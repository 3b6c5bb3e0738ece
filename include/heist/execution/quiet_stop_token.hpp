// QuietStopToken: by which operations may be stopped, although nobody asks them to stop.
#pragma once

#include <concepts>
#include <heist/execution/library.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::execution {

/// The stop token of a receiver that never asks for a stop, and that takes `set_stopped` all the
/// same. An operation on a closed loop can tell such a receiver that it was stopped. A token that
/// is unstoppable, as that of an environment without any, says that it cannot.
///
/// Spec: contract SND-5.   Thread: any.   Cost: none; it is empty, and so are its callbacks.
class QuietStopToken {
 public:
  /// Is never called.
  template <class Callback>
  struct callback_type {
    /// Forgets the callback.
    template <class Initializer>
    callback_type(QuietStopToken /*token*/, Initializer&& /*callback*/) noexcept {}
  };

  /// Says no.
  // No static functions: those of an unstoppable token can be asked without an object.
  [[nodiscard]] bool stop_requested() const noexcept { return false; }
  [[nodiscard]] bool stop_possible() const noexcept { return false; }
  friend bool operator==(const QuietStopToken&, const QuietStopToken&) noexcept = default;
};

/// Whether operations with this environment may complete with `set_stopped`, without a signal.
template <class Env>
inline constexpr bool may_be_stopped = !exq::unstoppable_token<exq::stop_token_of_t<Env>>;

/// Whether operations with this environment may be told to stop by their stop token.
template <class Env>
inline constexpr bool may_be_told_to_stop =
    may_be_stopped<Env> && !std::same_as<exq::stop_token_of_t<Env>, QuietStopToken>;

}  // namespace HEIST_NAMESPACE::execution
