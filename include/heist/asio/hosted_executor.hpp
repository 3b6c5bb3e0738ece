// HostedExecutor: runs handlers in the io_context of an agent.
#pragma once

#include <heist/asio/context_host.hpp>
#include <heist/asio/library.hpp>
#include <type_traits>
#include <utility>

namespace HEIST_ASIO_NAMESPACE {

/// Calls execute() of one of the library's executors, which in Asio 1.22 is a secret of theirs.
template <class LibraryExecutor, class Function>
void execute_on(const LibraryExecutor& executor, Function&& function) {
#if HEIST_ASIO_LIBRARY_VERSION < 102600
  net::execution::execute(executor, std::forward<Function>(function));
#else
  executor.execute(std::forward<Function>(function));
#endif
}

/// An executor of an io_context of AgentContexts. It is that io_context's own one (`Inner`), with
/// all of its properties, but that each handler first says that its agent does not sleep any more.
/// Sockets and timers are made on it as on an io_context.
///
/// Thread:   any.
/// Lifetime: the AgentContexts outlive it.
/// Spec:     contract ASIO-10, ASIO-11.
template <class Inner>
class HostedExecutor {
  template <class Property>
  using Required =
      HostedExecutor<std::decay_t<typename net::require_result<const Inner&, Property>::type>>;
  template <class Property>
  using Preferred =
      HostedExecutor<std::decay_t<typename net::prefer_result<const Inner&, Property>::type>>;

 public:
  explicit HostedExecutor(Inner inner) noexcept : inner_(std::move(inner)) {}

  /// Runs `function()` on the agent's thread. What it throws goes to the error hook.
  ///
  /// Thread: any.   Errors: std::bad_alloc.
  template <class Function>
  void execute(Function&& function) const {
    execute_on(inner_,
               [function = std::decay_t<Function>(std::forward<Function>(function))]() mutable {
                 ContextHost::begin_handler();
                 std::move(function)();
               });
  }

  template <class Property>
    requires(net::can_query<const Inner&, Property>::value)
  [[nodiscard]] decltype(auto) query(const Property& property) const
      noexcept(net::is_nothrow_query<const Inner&, Property>::value) {
    return net::query(inner_, property);
  }
  template <class Property>
    requires(net::can_require<const Inner&, Property>::value)
  [[nodiscard]] Required<Property> require(const Property& property) const
      noexcept(net::is_nothrow_require<const Inner&, Property>::value) {
    return Required<Property>(net::require(inner_, property));
  }
  template <class Property>
    requires(net::can_prefer<const Inner&, Property>::value)
  [[nodiscard]] Preferred<Property> prefer(const Property& property) const
      noexcept(net::is_nothrow_prefer<const Inner&, Property>::value) {
    return Preferred<Property>(net::prefer(inner_, property));
  }

  friend bool operator==(const HostedExecutor& a, const HostedExecutor& b) noexcept {
    return a.inner_ == b.inner_;
  }

 private:
  Inner inner_;
};

}  // namespace HEIST_ASIO_NAMESPACE
