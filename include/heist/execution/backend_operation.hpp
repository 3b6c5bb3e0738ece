// BackendOperation: what a parallel_scheduler's backend does for one sender.
#pragma once

#include <cstddef>
#include <exception>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/parallel_work.hpp>
#include <heist/execution/bulk_sender.hpp>
#include <heist/execution/library.hpp>
#include <heist/execution/task_scheduler.hpp>
#include <memory>
#include <new>
#include <span>

namespace HEIST_NAMESPACE::execution {

namespace replacement = ex::parallel_scheduler_replacement;

/// The stop token of the receiver behind a proxy, or one that never asks for a stop.
[[nodiscard]] inline exq::inplace_stop_token stop_token_of(
    replacement::receiver_proxy& proxy) noexcept {
  const auto token = proxy.template try_query<exq::inplace_stop_token>(exq::get_stop_token_t());
  return token ? *token : exq::inplace_stop_token();
}

/// Completes a proxy.
struct ProxyTurn {
  replacement::receiver_proxy* proxy;
  void operator()() const noexcept { proxy->set_value(); }
};

/// Runs the indexes of a proxy as a parallel loop, and completes it.
struct ProxyBulk {
  replacement::bulk_item_receiver_proxy* proxy;
  std::size_t count;
  bool in_chunks;

  void operator()() const noexcept {
    const auto token = stop_token_of(*proxy);
    const auto run_step = [&](std::size_t begin, std::size_t end) {
      if (!token.stop_requested()) execute(begin, end);
    };
    try {
      BulkLoop(run_step).run_all(count);
    } catch (...) {
      return proxy->set_error(std::current_exception());
    }
    token.stop_requested() ? proxy->set_stopped() : proxy->set_value();
  }

 private:
  void execute(std::size_t begin, std::size_t end) const {
    if (in_chunks) return proxy->execute(begin, end);
    for (; begin != end; ++begin) proxy->execute(begin, begin + 1);
  }
};

/// Does the work in a task of a scheduler. It is in the memory that the frontend lends, or in a
/// node if that is too small, and goes before the work is done.
template <class Work>
class BackendOperation {
 public:
  /// Without memory the work's proxy gets the error.
  static void start(const TaskScheduler& scheduler, Work work,
                    std::span<std::byte> scratch) noexcept {
    try {
      ex::start(make(scheduler, work, scratch)->operation_);
    } catch (const std::bad_alloc&) {
      work.proxy->set_error(std::current_exception());
    }
  }

  BackendOperation(const TaskScheduler& scheduler, Work work, bool is_node) noexcept
      : work_(work),
        is_node_(is_node),
        operation_(ex::connect(ex::schedule(scheduler), TurnReceiver{this})) {}

 private:
  struct Env {
    replacement::receiver_proxy* proxy;
    [[nodiscard]] exq::inplace_stop_token query(exq::get_stop_token_t /*query*/) const noexcept {
      return stop_token_of(*proxy);
    }
  };
  struct TurnReceiver {
    using receiver_concept = ReceiverTag;
    BackendOperation* operation;

    void set_value() noexcept { operation->end()(); }
    void set_stopped() noexcept { operation->end().proxy->set_stopped(); }
    [[nodiscard]] Env get_env() const noexcept { return {operation->work_.proxy}; }
  };

  static BackendOperation* make(const TaskScheduler& scheduler, Work work,
                                std::span<std::byte> scratch) {
    void* place = scratch.data();
    std::size_t size = scratch.size();
    if (std::align(alignof(BackendOperation), sizeof(BackendOperation), place, size) == nullptr) {
      return detail::make_node<BackendOperation>(scheduler, work, true);
    }
    return ::new (place) BackendOperation(scheduler, work, false);
  }
  /// Destroys this.
  [[nodiscard]] Work end() noexcept {
    const Work work = work_;
    if (is_node_) {
      detail::destroy_node(*this);
    } else {
      std::destroy_at(this);
    }
    return work;
  }

  const Work work_;
  const bool is_node_;
  ex::connect_result_t<ScheduleSender<TaskScheduler>, TurnReceiver> operation_;
};

}  // namespace HEIST_NAMESPACE::execution
