// Boost.Fiber: a buffered channel of callables, which a fiber of the worker thread receives and
// runs: the documented way between threads. From inside, a fiber for each task, with pooled stacks.
#pragma once

#include <boost/fiber/buffered_channel.hpp>
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/pooled_fixedsize_stack.hpp>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

namespace bench {

class FiberSubject {
 public:
  static constexpr const char* name = "boost_fiber";
  ~FiberSubject() {
    channel_.close();
    thread_.join();
  }
  template <class F>
  void post(F&& f) {
    channel_.push(std::function<void()>(std::forward<F>(f)));
  }
  template <class F>
  void post_inside(F&& f) {
    boost::fibers::fiber(boost::fibers::launch::post, std::allocator_arg, stacks_,
                         std::forward<F>(f))
        .detach();
  }

 private:
  // A channel is bounded; posters wait while it is full.
  static constexpr std::size_t capacity = 1 << 16;

  void run() {
    std::function<void()> task;
    while (channel_.pop(task) == boost::fibers::channel_op_status::success) task();
  }

  boost::fibers::buffered_channel<std::function<void()>> channel_{capacity};
  boost::fibers::pooled_fixedsize_stack stacks_;
  std::thread thread_{[this] { run(); }};
};

}  // namespace bench
