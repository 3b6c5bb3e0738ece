// Boost.Asio: an io_context, with one thread, and a thread pool.
#pragma once

#include <boost/asio/defer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <thread>
#include <utility>

namespace bench {

/// Concurrency hint 1: "the implementation ... may be used from a single thread only, apart from
/// posting", which spares the wake-ups of further threads and keeps posts from inside private.
class AsioSubject {
 public:
  static constexpr const char* name = "asio_io_context";
  ~AsioSubject() { finish(); }
  template <class F>
  void post(F&& f) {
    boost::asio::post(context_, std::forward<F>(f));
  }
  /// defer(): documented for a continuation of the running handler.
  template <class F>
  void post_inside(F&& f) {
    boost::asio::defer(context_, std::forward<F>(f));
  }
  /// Ends the worker; what is queued or armed stays so. Calls after the first do nothing.
  void finish() {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] boost::asio::io_context& context() noexcept { return context_; }

 private:
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{
      context_.get_executor()};
  std::thread thread_{[this] { context_.run(); }};
};

template <std::size_t threads>
class AsioPool {
 public:
  static constexpr const char* name = "asio_thread_pool";
  ~AsioPool() { pool_.join(); }
  template <class F>
  void post(F&& f) {
    boost::asio::post(pool_, std::forward<F>(f));
  }
  template <class F>
  void post_inside(F&& f) {
    boost::asio::defer(pool_, std::forward<F>(f));
  }
  [[nodiscard]] boost::asio::thread_pool& context() noexcept { return pool_; }

 private:
  boost::asio::thread_pool pool_{threads};
};
using AsioPoolSubject = AsioPool<1>;

}  // namespace bench
