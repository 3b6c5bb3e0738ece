// get_priority, get_signal: queries of environments, by which a whole graph of senders has the
// priority and the signal of whoever runs it.
#pragma once

#include <concepts>
#include <heist/abort_signal.hpp>
#include <heist/execution/library.hpp>
#include <heist/priority.hpp>
#include <heist/task_signal.hpp>
#include <utility>

namespace HEIST_NAMESPACE::execution {

/// The type of `get_priority`.
struct GetPriority {
  /// The environment's answer.
  template <class Env>
    requires requires(const Env& env, GetPriority self) {
      { env.query(self) } -> std::convertible_to<TaskPriority>;
    }
  [[nodiscard]] constexpr TaskPriority operator()(const Env& env) const noexcept {
    return env.query(*this);
  }
  /// Adaptors pass it on to what they adapt.
  [[nodiscard]] static constexpr bool query(exq::forwarding_query_t /*query*/) noexcept {
    return true;
  }
};

/// The type of `get_signal`.
struct GetSignal {
  /// The environment's answer.
  template <class Env>
    requires requires(const Env& env, GetSignal self) {
      { env.query(self) } -> std::convertible_to<AbortSignal>;
    }
  [[nodiscard]] AbortSignal operator()(const Env& env) const noexcept {
    return env.query(*this);
  }
  /// Adaptors pass it on to what they adapt.
  [[nodiscard]] static constexpr bool query(exq::forwarding_query_t /*query*/) noexcept {
    return true;
  }
};

/// The priority of what is scheduled on a TaskScheduler that has none of its own. An operation asks
/// its receiver's environment when it starts.
///
/// Spec: contract SND-3.
inline constexpr GetPriority get_priority{};

/// The signal of what is scheduled on a TaskScheduler: it aborts what has not started, and a
/// TaskSignal gives the priority, whose changes all that waits follows. An operation asks its
/// receiver's environment when it starts. The signal may be moved from; it is none then.
///
/// Spec: contract SND-3.
inline constexpr GetSignal get_signal{};

/// Whether an environment answers get_signal.
template <class Env>
inline constexpr bool has_signal = std::invocable<GetSignal, const Env&>;

}  // namespace HEIST_NAMESPACE::execution
