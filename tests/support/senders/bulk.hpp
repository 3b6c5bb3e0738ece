// Of the stand-in for a library of senders: bulk and its kin, which run one index after the other
// unless the domain of a scheduler does otherwise.
#pragma once

#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

#include "connect.hpp"

namespace heist::support::senders {

struct sequenced_policy {};
struct parallel_policy {};
struct parallel_unsequenced_policy {};
inline constexpr sequenced_policy seq{};
inline constexpr parallel_policy par{};
inline constexpr parallel_unsequenced_policy par_unseq{};

template <class Policy, class Shape, class Function>
struct bulk_data {
  Policy policy;
  Shape shape;
  Function function;
};

/// Its first members are those that domains take it apart into.
template <class Tag, class Data, sender Child>
struct bulk_sender {
  using sender_concept = sender_tag;
  using tag_type = Tag;
  Tag tag;
  Data data;
  Child child;

  template <class Self, class Env>
  static consteval auto get_completion_signatures() noexcept {
    return []<class... Values>(std::type_identity<std::tuple<Values...>>) {
      return any_completion<Values...>{};
    }(std::type_identity<values_of_t<Child>>{});
  }
  [[nodiscard]] decltype(auto) get_env() const noexcept { return senders::get_env(child); }

  template <class Receiver>
  struct state {
    using operation_state_concept = operation_state_tag;
    struct inner : passing_receiver<Receiver> {
      Data* data;
      void set_value(auto&&... values) noexcept {
        try {
          Tag::run_all(*data, values...);
        } catch (...) {
          return this->set_error(std::current_exception());
        }
        senders::set_value(std::move(*this->next), std::forward<decltype(values)>(values)...);
      }
    };
    state(const Child& child, Data with, Receiver to)
        : data(std::move(with)),
          receiver(std::move(to)),
          operation(senders::connect(child, inner{{&receiver}, &data})) {}
    Data data;
    Receiver receiver;
    connect_result_t<const Child&, inner> operation;
    void start() & noexcept { operation.start(); }
  };
  template <class Receiver>
  auto connect(Receiver receiver) const {
    return state<Receiver>(child, data, std::move(receiver));
  }
};

template <class Tag, class Data>
struct bulk_closure {
  Data data;
  template <sender Child>
  friend auto operator|(Child child, bulk_closure closure) {
    return bulk_sender<Tag, Data, Child>{{}, std::move(closure.data), std::move(child)};
  }
};
template <class Tag, class Policy, class Shape, class Function>
auto make_bulk(Policy policy, Shape shape, Function function) {
  using Data = bulk_data<Policy, Shape, Function>;
  return bulk_closure<Tag, Data>{{policy, shape, std::move(function)}};
}

struct bulk_chunked_t {
  static void run_all(auto& data, auto&... values) {
    if (data.shape != 0) data.function(decltype(data.shape){0}, data.shape, values...);
  }
  auto operator()(auto policy, auto shape, auto function) const {
    return make_bulk<bulk_chunked_t>(policy, shape, std::move(function));
  }
};
inline constexpr bulk_chunked_t bulk_chunked{};
struct bulk_unchunked_t {
  static void run_all(auto& data, auto&... values) {
    for (decltype(data.shape) i = 0; i != data.shape; ++i) data.function(i, values...);
  }
  auto operator()(auto policy, auto shape, auto function) const {
    return make_bulk<bulk_unchunked_t>(policy, shape, std::move(function));
  }
};
inline constexpr bulk_unchunked_t bulk_unchunked{};
/// Is bulk_chunked at once.
struct bulk_t {
  auto operator()(auto policy, auto shape, auto function) const {
    return bulk_chunked(policy, shape,
                        [function](decltype(shape) begin, decltype(shape) end, auto&... values) {
                          for (; begin != end; ++begin) function(begin, values...);
                        });
  }
};
inline constexpr bulk_t bulk{};

}  // namespace heist::support::senders
