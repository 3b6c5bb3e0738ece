// A stand-in for a library of senders: as much of [exec] as the tests of heist/execution.hpp use,
// under the names of C++26. The option HEIST_STDEXEC_DIR runs the same tests with stdexec.
#pragma once

#include <atomic>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <tuple>
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
template <class Sender, class Env>
using completion_signatures_of_t =
    decltype(std::remove_cvref_t<Sender>::template get_completion_signatures<Sender, Env>());

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

// Senders.

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
    static_assert(operation_state<decltype(std::forward<Sender>(sender).connect(
                      std::forward<Receiver>(receiver)))>);
    return std::forward<Sender>(sender).connect(std::forward<Receiver>(receiver));
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

template <class... Values>
struct just_sender {
  using sender_concept = sender_tag;
  std::tuple<Values...> values;
  template <class Self, class Env>
  static consteval auto get_completion_signatures() noexcept {
    return completion_signatures<set_value_t(Values...)>{};
  }
  template <class Receiver>
  struct state {
    using operation_state_concept = operation_state_tag;
    std::tuple<Values...> values;
    Receiver receiver;
    void start() & noexcept {
      std::apply([&](Values&... all) { set_value(std::move(receiver), std::move(all)...); },
                 values);
    }
  };
  template <class Receiver>
  auto connect(Receiver receiver) const {
    return state<Receiver>{values, std::move(receiver)};
  }
};
template <class... Values>
auto just(Values... values) {
  return just_sender<Values...>{{std::move(values)...}};
}

template <class Sender, class Function>
struct then_sender {
  using sender_concept = sender_tag;
  using Result =
      decltype(std::apply(std::declval<Function>(), std::declval<values_of_t<Sender>>()));
  Sender sender;
  Function function;
  template <class Self, class Env>
  static consteval auto get_completion_signatures() noexcept {
    if constexpr (std::is_void_v<Result>) {
      return any_completion<>{};
    } else {
      return any_completion<Result>{};
    }
  }
  template <class Receiver>
  struct state {
    using operation_state_concept = operation_state_tag;
    struct inner : passing_receiver<Receiver> {
      Function* function;
      void set_value(auto&&... values) noexcept {
        try {
          if constexpr (std::is_void_v<Result>) {
            (*function)(std::forward<decltype(values)>(values)...);
            senders::set_value(std::move(*this->next));
          } else {
            senders::set_value(std::move(*this->next),
                               (*function)(std::forward<decltype(values)>(values)...));
          }
        } catch (...) {
          this->set_error(std::current_exception());
        }
      }
    };
    state(const Sender& sender, Function with, Receiver to)
        : function(std::move(with)),
          receiver(std::move(to)),
          child(senders::connect(sender, inner{{&receiver}, &function})) {}
    Function function;
    Receiver receiver;
    connect_result_t<const Sender&, inner> child;
    void start() & noexcept { child.start(); }
  };
  template <class Receiver>
  auto connect(Receiver receiver) const {
    return state<Receiver>(sender, function, std::move(receiver));
  }
};
template <class Function>
struct then_closure {
  Function function;
  template <sender Sender>
  friend auto operator|(Sender sender, then_closure closure) {
    return then_sender<Sender, Function>{std::move(sender), std::move(closure.function)};
  }
};
template <class Function>
auto then(Function function) {
  return then_closure<Function>{std::move(function)};
}

template <class Sender, class Env>
struct env_sender {
  using sender_concept = sender_tag;
  Sender sender;
  Env env_;
  template <class Self, class Outer>
  static consteval auto get_completion_signatures() noexcept {
    return completion_signatures_of_t<Sender, env<Env, Outer>>{};
  }
  template <class Receiver>
  struct inner : passing_receiver<Receiver> {
    const Env* env_;
    void set_value(auto&&... values) noexcept {
      senders::set_value(std::move(*this->next), std::forward<decltype(values)>(values)...);
    }
    [[nodiscard]] auto get_env() const noexcept {
      return env<Env, env_of_t<Receiver>>{*env_, senders::get_env(*this->next)};
    }
  };
  template <class Receiver>
  struct state {
    using operation_state_concept = operation_state_tag;
    state(const Sender& sender, const Env& of, Receiver to)
        : env_(of),
          receiver(std::move(to)),
          child(senders::connect(sender, inner<Receiver>{{&receiver}, &env_})) {}
    Env env_;
    Receiver receiver;
    connect_result_t<const Sender&, inner<Receiver>> child;
    void start() & noexcept { child.start(); }
  };
  template <class Receiver>
  auto connect(Receiver receiver) const {
    return state<Receiver>(sender, env_, std::move(receiver));
  }
};
template <sender Sender, class Env>
auto write_env(Sender sender, Env env) {
  return env_sender<Sender, Env>{std::move(sender), std::move(env)};
}

/// Starts the second when the first has ended well.
template <class First, class Second>
struct sequence_sender {
  using sender_concept = sender_tag;
  First first;
  Second second;
  template <class Self, class Env>
  static consteval auto get_completion_signatures() noexcept {
    return any_completion<>{};
  }
  template <class Receiver>
  struct state {
    using operation_state_concept = operation_state_tag;
    struct last : passing_receiver<Receiver> {
      void set_value() noexcept { senders::set_value(std::move(*this->next)); }
    };
    struct inner : passing_receiver<Receiver> {
      state* of;
      void set_value() noexcept { of->after.start(); }
    };
    state(const First& one, const Second& other, Receiver to)
        : receiver(std::move(to)),
          before(senders::connect(one, inner{{&receiver}, this})),
          after(senders::connect(other, last{{&receiver}})) {}
    Receiver receiver;
    connect_result_t<const First&, inner> before;
    connect_result_t<const Second&, last> after;
    void start() & noexcept { before.start(); }
  };
  template <class Receiver>
  auto connect(Receiver receiver) const {
    return state<Receiver>(first, second, std::move(receiver));
  }
};
template <scheduler Scheduler, sender Sender>
auto starts_on(Scheduler scheduler, Sender sender) {
  return sequence_sender<decltype(schedule(scheduler)), Sender>{schedule(scheduler),
                                                                std::move(sender)};
}
template <sender Sender, scheduler Scheduler>
auto continues_on(Sender sender, Scheduler scheduler) {
  return sequence_sender<Sender, decltype(schedule(scheduler))>{std::move(sender),
                                                                schedule(scheduler)};
}

/// Senders of no values; the first that does not end well decides.
template <class... Senders>
struct all_sender {
  using sender_concept = sender_tag;
  std::tuple<Senders...> senders_;
  template <class Self, class Env>
  static consteval auto get_completion_signatures() noexcept {
    return any_completion<>{};
  }
  template <class Receiver>
  struct state {
    using operation_state_concept = operation_state_tag;
    struct inner {
      using receiver_concept = receiver_tag;
      state* of;
      void set_value() noexcept { of->end_one(); }
      void set_error(std::exception_ptr thrown) noexcept {
        if (!of->decided.exchange(true)) of->error = std::move(thrown);
        of->end_one();
      }
      void set_stopped() noexcept {
        if (!of->decided.exchange(true)) of->is_stopped = true;
        of->end_one();
      }
      [[nodiscard]] auto get_env() const noexcept { return senders::get_env(of->receiver); }
    };
    /// A child is made where it stays, as it cannot be moved.
    template <class Sender>
    struct child {
      child(const Sender& sender, state* of) : operation(senders::connect(sender, inner{of})) {}
      connect_result_t<const Sender&, inner> operation;
    };
    struct source {
      const std::tuple<Senders...>* senders_;
      state* of;
    };
    template <std::size_t index>
    struct place : child<std::tuple_element_t<index, std::tuple<Senders...>>> {
      explicit place(const source& from)
          : child<std::tuple_element_t<index, std::tuple<Senders...>>>(
                std::get<index>(*from.senders_), from.of) {}
    };
    template <class Indices>
    struct places;
    template <std::size_t... indices>
    struct places<std::index_sequence<indices...>> : place<indices>... {
      explicit places(const source& from) : place<indices>(from)... {}
      void start() noexcept { (static_cast<place<indices>&>(*this).operation.start(), ...); }
    };
    state(const std::tuple<Senders...>& all, Receiver to)
        : receiver(std::move(to)), children(source{&all, this}) {}
    void start() & noexcept { children.start(); }
    void end_one() noexcept {
      if (left.fetch_sub(1) != 1) return;
      if (error) {
        senders::set_error(std::move(receiver), std::move(error));
      } else if (is_stopped) {
        senders::set_stopped(std::move(receiver));
      } else {
        senders::set_value(std::move(receiver));
      }
    }
    Receiver receiver;
    std::atomic<std::size_t> left{sizeof...(Senders)};
    std::atomic<bool> decided{false};
    bool is_stopped = false;
    std::exception_ptr error;
    places<std::index_sequence_for<Senders...>> children;
  };
  template <class Receiver>
  auto connect(Receiver receiver) const {
    return state<Receiver>(senders_, std::move(receiver));
  }
};
template <sender... Senders>
auto when_all(Senders... senders) {
  return all_sender<Senders...>{{std::move(senders)...}};
}

/// What sync_wait() waits for.
template <class Result>
struct waited_for {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_there = false;
  Result result;
  std::exception_ptr error;
  void end() {
    const std::lock_guard lock(mutex);  // the waiter destroys this once it has the lock
    is_there = true;
    changed.notify_one();
  }
};
template <class Result>
struct waiting_receiver {
  using receiver_concept = receiver_tag;
  waited_for<Result>* outcome;
  void set_value(auto&&... values) noexcept {
    outcome->result.emplace(std::forward<decltype(values)>(values)...);
    outcome->end();
  }
  void set_error(std::exception_ptr error) noexcept {
    outcome->error = std::move(error);
    outcome->end();
  }
  void set_stopped() noexcept { outcome->end(); }
};

/// Waits on a thread without a loop. Nothing if it was stopped; throws if it failed.
template <sender Sender>
auto sync_wait(const Sender& sender) {
  using Result = std::optional<values_of_t<Sender>>;
  waited_for<Result> outcome;
  auto operation = senders::connect(sender, waiting_receiver<Result>{&outcome});
  operation.start();
  std::unique_lock lock(outcome.mutex);
  outcome.changed.wait(lock, [&] { return outcome.is_there; });
  if (outcome.error) std::rethrow_exception(outcome.error);
  return std::move(outcome.result);
}

}  // namespace heist::support::senders
