// BulkDomain: by which libraries of senders find that bulk is a parallel loop on a BulkScheduler.
#pragma once

#include <concepts>
#include <heist/execution/bulk_sender.hpp>
#include <heist/execution/library.hpp>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE::execution {

/// What bulk_chunked() or bulk_unchunked() has made. Libraries turn bulk() into the first.
template <class Sender>
concept BulkMade = requires { typename ex::tag_of_t<Sender>; } &&
                   (std::same_as<ex::tag_of_t<Sender>, ex::bulk_chunked_t> ||
                    std::same_as<ex::tag_of_t<Sender>, ex::bulk_unchunked_t>);

/// An execution policy, which stdexec wraps.
template <class Policy>
[[nodiscard]] decltype(auto) bare_policy(const Policy& policy) noexcept {
  if constexpr (requires { policy.__get(); }) {
    return policy.__get();
  } else {
    return (policy);
  }
}
template <class Policy>
inline constexpr bool is_parallel =
    std::same_as<Policy, std::remove_cvref_t<decltype(ex::par)>> ||
    std::same_as<Policy, std::remove_cvref_t<decltype(ex::par_unseq)>>;

/// Whether the policy lets calls be made at the same time.
template <BulkMade Sender>
consteval bool is_parallel_bulk() noexcept {
  return decltype([](auto& sender) {
    auto& [tag, data, child] = sender;
    auto& [policy, shape, function] = data;
    using Policy = std::remove_cvref_t<decltype(bare_policy(policy))>;
    return std::bool_constant<is_parallel<Policy>>();
  }(std::declval<std::remove_reference_t<Sender>&>()))::value;
}

/// The domain of a BulkScheduler.
struct BulkDomain : ex::default_domain {
  template <BulkMade Sender, class Env>
    requires(is_parallel_bulk<Sender>())
  [[nodiscard]] constexpr auto transform_sender(ex::set_value_t /*completion*/, Sender&& sender,
                                                const Env& /*env*/) const {
    auto& [tag, data, child] = sender;
    auto& [policy, shape, function] = data;
    using Child = std::remove_cvref_t<decltype(child)>;
    using Shape = std::remove_cvref_t<decltype(shape)>;
    using Function = std::remove_cvref_t<decltype(function)>;
    constexpr bool in_chunks = std::same_as<ex::tag_of_t<Sender>, ex::bulk_chunked_t>;
    if constexpr (std::is_lvalue_reference_v<Sender>) {
      return BulkSender<Child, Shape, Function, in_chunks>(child, shape, function);
    } else {
      return BulkSender<Child, Shape, Function, in_chunks>(std::move(child), shape,
                                                           std::move(function));
    }
  }
};

}  // namespace HEIST_NAMESPACE::execution
