// Of the stand-in for a library of senders: just, then, write_env, starts_on and more adaptors.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

#include "connect.hpp"

namespace heist::support::senders {

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
  [[nodiscard]] decltype(auto) get_env() const noexcept { return senders::get_env(sender); }
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
  [[nodiscard]] decltype(auto) get_env() const noexcept { return senders::get_env(sender); }
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
  [[nodiscard]] decltype(auto) get_env() const noexcept { return senders::get_env(second); }
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

}  // namespace heist::support::senders
