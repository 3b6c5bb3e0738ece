// Crossing: the way from a connection's thread to the network's, and back.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>

namespace heistd {

template <class T>
class Away;

/// Clients, jobs and all else but the connections belong to the network thread. The coroutine of a
/// connection that another thread serves goes there with what it asks for, and comes back with the
/// answer. Where one thread does both, it stays.
///
/// Thread: any.   Lifetime: what it does, within that of both io_contexts.
class Crossing {
 public:
  using Executor = boost::asio::io_context::executor_type;

  /// To be made on the network's thread.
  Crossing(boost::asio::io_context& network, boost::asio::io_context& connection) noexcept
      : network_(&network), connection_(&connection) {}

  /// Whether there are two threads.
  [[nodiscard]] bool is_needed() const noexcept { return network_ != connection_; }
  [[nodiscard]] Executor network() const noexcept { return network_->get_executor(); }
  [[nodiscard]] Executor connection() const noexcept { return connection_->get_executor(); }

  /// Does the step on the network's thread; to be called on the connection's, which goes on with
  /// other connections meanwhile. What the step waits for has to resume it on network().
  template <class T>
  boost::asio::awaitable<T> call(boost::asio::awaitable<T>& step) const {
    if (!is_needed()) co_return co_await std::move(step);
    auto there = go(network());
    co_await std::move(there);
    std::conditional_t<std::is_void_v<T>, std::monostate, std::optional<T>> result;
    std::exception_ptr failure;
    try {
      if constexpr (std::is_void_v<T>) {
        co_await std::move(step);
      } else {
        result.emplace(co_await std::move(step));
      }
    } catch (...) {
      failure = std::current_exception();
    }
    auto back = go(connection());
    co_await std::move(back);
    if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
    if constexpr (!std::is_void_v<T>) co_return std::move(*result);
  }

 private:
  template <class T>
  friend class Away;

  static boost::asio::awaitable<void> go(const Executor& where) {
    return boost::asio::post(boost::asio::bind_executor(where, boost::asio::use_awaitable));
  }
  [[nodiscard]] bool is_network_here() const noexcept {
    return std::this_thread::get_id() == network_thread_;
  }

  boost::asio::io_context* network_;
  boost::asio::io_context* connection_;
  std::thread::id network_thread_ = std::this_thread::get_id();
};

/// Something of the network's thread that a connection holds meanwhile: it ends on that thread,
/// wherever the last of it goes.
///
/// Thread: any; what it has, only the network's.
template <class T>
class Away {
 public:
  Away(const Crossing& crossing, std::unique_ptr<T> value) noexcept
      : crossing_(crossing), value_(std::move(value)) {}
  Away(Away&&) noexcept = default;
  Away& operator=(Away&& other) noexcept {
    std::swap(crossing_, other.crossing_);
    std::swap(value_, other.value_);
    return *this;
  }
  ~Away() {
    if (!value_ || crossing_.is_network_here()) return;
    try {
      boost::asio::post(crossing_.network(), Last(crossing_, value_.release()));
    } catch (const std::bad_alloc&) {  // the reserve is used up, too: then it stays for good
    }
  }

  [[nodiscard]] T& operator*() const noexcept { return *value_; }
  [[nodiscard]] T* operator->() const noexcept { return value_.get(); }

 private:
  /// The last one who has it, also if nobody runs what was posted.
  class Last {
   public:
    Last(const Crossing& crossing, T* value) noexcept : crossing_(crossing), value_(value) {}
    Last(Last&& other) noexcept
        : crossing_(other.crossing_), value_(std::exchange(other.value_, nullptr)) {}
    Last& operator=(Last&&) = delete;
    ~Last() {
      if (crossing_.is_network_here()) const std::unique_ptr<T> end(value_);
    }
    void operator()() const noexcept {}

   private:
    const Crossing crossing_;
    T* value_;
  };

  Crossing crossing_;
  std::unique_ptr<T> value_;
};

}  // namespace heistd
