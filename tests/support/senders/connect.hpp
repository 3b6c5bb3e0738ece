// Of the stand-in for a library of senders: what senders and schedulers are, and how they connect.
#pragma once

#include <concepts>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

#include "vocabulary.hpp"

namespace heist::support::senders {

struct default_domain {};
/// What an algorithm has made the sender.
template <class Sender>
using tag_of_t = typename std::remove_cvref_t<Sender>::tag_type;

/// The domain of the scheduler on which the sender completes.
template <class Sender>
auto domain_of(const Sender& sender) {
  constexpr get_completion_domain_t<set_value_t> domain;
  if constexpr (requires {
                  get_env(sender).query(get_completion_scheduler<set_value_t>).query(domain);
                }) {
    return get_env(sender).query(get_completion_scheduler<set_value_t>).query(domain);
  } else {
    return default_domain{};
  }
}
/// What the domain makes of the sender, or the sender.
template <class Sender, class Env>
decltype(auto) transform_sender(Sender&& sender, const Env& env) {
  using Domain = decltype(domain_of(sender));
  if constexpr (requires {
                  Domain{}.transform_sender(set_value_t{}, std::forward<Sender>(sender), env);
                }) {
    return Domain{}.transform_sender(set_value_t{}, std::forward<Sender>(sender), env);
  } else {
    return std::forward<Sender>(sender);
  }
}
template <class Sender, class Env>
using transformed_t =
    decltype(transform_sender(std::declval<Sender>(), std::declval<const Env&>()));

template <class Sender, class Env>
using completion_signatures_of_t =
    decltype(std::remove_cvref_t<transformed_t<Sender, Env>>::template get_completion_signatures<
             transformed_t<Sender, Env>, Env>());

template <class Sender>
inline constexpr bool enable_sender =
    requires { requires std::derived_from<typename Sender::sender_concept, sender_tag>; };
template <class Sender>
concept sender = enable_sender<std::remove_cvref_t<Sender>>;
template <class Sender, class Env>
concept sender_in =
    sender<Sender> && requires { typename completion_signatures_of_t<Sender, Env>; };
template <class Receiver>
concept receiver =
    std::derived_from<typename std::remove_cvref_t<Receiver>::receiver_concept, receiver_tag> &&
    std::is_nothrow_move_constructible_v<std::remove_cvref_t<Receiver>>;
template <class State>
concept operation_state =
    std::derived_from<typename State::operation_state_concept, operation_state_tag> &&
    requires(State& state) {
      { state.start() } noexcept;
    };
struct connect_t {
  template <class Sender, receiver Receiver>
  auto operator()(Sender&& sender, Receiver&& receiver) const {
    const auto env = get_env(receiver);
    using State = decltype(transform_sender(std::forward<Sender>(sender), env)
                               .connect(std::forward<Receiver>(receiver)));
    static_assert(operation_state<State>);
    return transform_sender(std::forward<Sender>(sender), env)
        .connect(std::forward<Receiver>(receiver));
  }
};
inline constexpr connect_t connect{};
template <class Sender, class Receiver>
using connect_result_t = decltype(connect(std::declval<Sender>(), std::declval<Receiver>()));
struct start_t {
  void operator()(auto& state) const noexcept { state.start(); }
};
inline constexpr start_t start{};
struct schedule_t {
  auto operator()(const auto& scheduler) const noexcept { return scheduler.schedule(); }
};
inline constexpr schedule_t schedule{};
template <class Scheduler>
concept scheduler =
    std::derived_from<typename Scheduler::scheduler_concept, scheduler_tag> &&
    std::equality_comparable<Scheduler> && std::is_nothrow_move_constructible_v<Scheduler> &&
    std::copy_constructible<Scheduler> && requires(const Scheduler& of) {
      { schedule(of) } -> sender;
      { get_completion_scheduler<set_value_t>(get_env(schedule(of))) } -> std::same_as<Scheduler>;
    };

template <class Signatures>
struct values_of;
template <class... Values, class... Others>
struct values_of<completion_signatures<set_value_t(Values...), Others...>> {
  using type = std::tuple<Values...>;
};
template <class Sender>
using values_of_t = typename values_of<completion_signatures_of_t<Sender, empty_env>>::type;
template <class... Values>
using any_completion =
    completion_signatures<set_value_t(Values...), set_error_t(std::exception_ptr), set_stopped_t()>;

/// What the adaptors' receivers do unless they do otherwise: they pass everything on.
template <class Receiver>
struct passing_receiver {
  using receiver_concept = receiver_tag;
  Receiver* next;
  void set_error(std::exception_ptr error) noexcept {
    senders::set_error(std::move(*next), std::move(error));
  }
  void set_stopped() noexcept { senders::set_stopped(std::move(*next)); }
  [[nodiscard]] auto get_env() const noexcept { return senders::get_env(*next); }
};

}  // namespace heist::support::senders
