// Of the stand-in for a library of senders: completions, environments, stop tokens.
#pragma once

#include <concepts>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace heist::support::senders {

struct sender_tag {};
struct receiver_tag {};
struct scheduler_tag {};
struct operation_state_tag {};

// Completions.

struct set_value_t {
  template <class Receiver, class... Values>
  void operator()(Receiver&& receiver, Values&&... values) const noexcept {
    std::forward<Receiver>(receiver).set_value(std::forward<Values>(values)...);
  }
};
struct set_error_t {
  template <class Receiver, class Error>
  void operator()(Receiver&& receiver, Error&& error) const noexcept {
    std::forward<Receiver>(receiver).set_error(std::forward<Error>(error));
  }
};
struct set_stopped_t {
  template <class Receiver>
  void operator()(Receiver&& receiver) const noexcept {
    std::forward<Receiver>(receiver).set_stopped();
  }
};
inline constexpr set_value_t set_value{};
inline constexpr set_error_t set_error{};
inline constexpr set_stopped_t set_stopped{};

template <class...>
struct completion_signatures {};
// Environments, their queries, and stop tokens.

struct forwarding_query_t {};
struct get_stop_token_t;
struct get_forward_progress_guarantee_t {
  template <class Scheduler>
  constexpr auto operator()(const Scheduler& scheduler) const noexcept {
    return scheduler.query(*this);
  }
};
inline constexpr get_forward_progress_guarantee_t get_forward_progress_guarantee{};
struct get_scheduler_t {
  template <class Env>
  auto operator()(const Env& env) const noexcept {
    return env.query(*this);
  }
};
inline constexpr get_scheduler_t get_scheduler{};
struct get_start_scheduler_t : get_scheduler_t {};
enum class forward_progress_guarantee { concurrent, parallel, weakly_parallel };
template <class Completion>
struct get_completion_scheduler_t {
  template <class Env>
  auto operator()(const Env& env) const noexcept {
    return env.query(*this);
  }
};
template <class Completion>
inline constexpr get_completion_scheduler_t<Completion> get_completion_scheduler{};

/// Asks a scheduler for the domain that customises the algorithms of what completes on it.
template <class Completion>
struct get_completion_domain_t {};

template <class Query, class Value>
struct prop {
  [[no_unique_address]] Query of;
  Value value;
  [[nodiscard]] const Value& query(Query /*query*/) const noexcept { return value; }
};
template <class Query, class Value>
prop(Query, Value) -> prop<Query, Value>;
/// The first answers, else the second.
template <class First = prop<forwarding_query_t, bool>, class Second = First>
struct env {
  First first;
  Second second;
  template <class Query>
    requires requires(const First& one, const Second& other, Query query) { one.query(query); } ||
             requires(const Second& other, Query query) { other.query(query); }
  [[nodiscard]] decltype(auto) query(Query query) const noexcept {
    if constexpr (requires { first.query(query); }) {
      return first.query(query);
    } else {
      return second.query(query);
    }
  }
};
struct empty_env {};

struct get_env_t {
  template <class Of>
  decltype(auto) operator()(const Of& of) const noexcept {
    if constexpr (requires { of.get_env(); }) {
      return of.get_env();
    } else {
      return empty_env{};
    }
  }
};
inline constexpr get_env_t get_env{};
template <class Of>
using env_of_t = std::remove_cvref_t<decltype(get_env(std::declval<const Of&>()))>;

struct never_stop_token {
  [[nodiscard]] static constexpr bool stop_requested() noexcept { return false; }
  [[nodiscard]] static constexpr bool stop_possible() noexcept { return false; }
  template <class Callback>
  struct callback_type {
    callback_type(never_stop_token /*token*/, Callback /*callback*/) noexcept {}
  };
};
struct inplace_stop_token : std::stop_token {
  template <class Callback>
  struct callback_type : std::stop_callback<Callback> {
    callback_type(const inplace_stop_token& token, Callback callback)
        : std::stop_callback<Callback>(token, std::move(callback)) {}
  };
};
class inplace_stop_source {
 public:
  [[nodiscard]] inplace_stop_token get_token() const noexcept { return {source_.get_token()}; }
  bool request_stop() noexcept { return source_.request_stop(); }

 private:
  std::stop_source source_;
};
struct get_stop_token_t {
  template <class Env>
  auto operator()(const Env& env) const noexcept {
    if constexpr (requires { env.query(*this); }) {
      return env.query(*this);
    } else {
      return never_stop_token{};
    }
  }
};
inline constexpr get_stop_token_t get_stop_token{};
template <class Env>
using stop_token_of_t = std::remove_cvref_t<decltype(get_stop_token(std::declval<const Env&>()))>;
template <class Token, class Callback>
using stop_callback_for_t = typename Token::template callback_type<Callback>;
template <class Token>
concept unstoppable_token =
    requires { requires std::bool_constant<!Token::stop_possible()>::value; };

}  // namespace heist::support::senders
