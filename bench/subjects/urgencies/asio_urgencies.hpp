// Asio: the priority_scheduler of its examples
// (asio/example/cpp14/executors/priority_scheduler.cpp), an execution context whose run() two
// threads call, and whose executors carry a priority. Asio's other example of priorities
// (prioritised_handlers.cpp) is for one thread.
#pragma once

#include <array>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>
#include <utility>
#include <vector>

namespace bench {

class AsioPriorityScheduler : public boost::asio::execution_context {
 public:
  class Executor {
   public:
    Executor(AsioPriorityScheduler& scheduler, int priority) noexcept
        : scheduler_(&scheduler), priority_(priority) {}
    [[nodiscard]] AsioPriorityScheduler& query(
        boost::asio::execution::context_t /*property*/) const noexcept {
      return *scheduler_;
    }
    template <class F>
    void execute(F f) const {
      scheduler_->push(std::make_shared<ItemOf<F>>(priority_, std::move(f)));
    }
    friend bool operator==(const Executor&, const Executor&) noexcept = default;

   private:
    AsioPriorityScheduler* scheduler_;
    int priority_;
  };

  ~AsioPriorityScheduler() {
    shutdown();
    destroy();
  }
  /// Until stop().
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [this] { return stopped_ || !queue_.empty(); });
      if (stopped_) return;
      const auto item = queue_.top();
      queue_.pop();
      lock.unlock();
      item->execute();
      lock.lock();
    }
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    wake_.notify_all();
  }

 private:
  struct Item {
    explicit Item(int value) noexcept : priority(value) {}
    Item(const Item&) = delete;
    Item& operator=(const Item&) = delete;
    virtual ~Item() = default;
    virtual void execute() = 0;
    int priority;
  };
  template <class F>
  struct ItemOf final : Item {
    ItemOf(int value, F&& f) : Item(value), function(std::move(f)) {}
    void execute() override { function(); }
    F function;
  };
  struct IsLess {
    bool operator()(const std::shared_ptr<Item>& a, const std::shared_ptr<Item>& b) const noexcept {
      return a->priority < b->priority;
    }
  };

  void push(std::shared_ptr<Item> item) {
    const std::lock_guard lock(mutex_);
    queue_.push(std::move(item));
    wake_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::priority_queue<std::shared_ptr<Item>, std::vector<std::shared_ptr<Item>>, IsLess> queue_;
  bool stopped_ = false;
};

class AsioUrgencies {
 public:
  static constexpr const char* name = "asio_priority_scheduler";
  AsioUrgencies() {
    for (auto& thread : threads_) thread = std::thread([this] { scheduler_.run(); });
  }
  AsioUrgencies(const AsioUrgencies&) = delete;
  AsioUrgencies& operator=(const AsioUrgencies&) = delete;
  ~AsioUrgencies() {
    scheduler_.stop();
    for (auto& thread : threads_) thread.join();
  }
  template <class F>
  void post_urgent(F&& f) {
    boost::asio::dispatch(AsioPriorityScheduler::Executor(scheduler_, 1), std::forward<F>(f));
  }
  template <class F>
  void post_background(F&& f) {
    boost::asio::dispatch(AsioPriorityScheduler::Executor(scheduler_, 0), std::forward<F>(f));
  }

 private:
  AsioPriorityScheduler scheduler_;
  std::array<std::thread, 2> threads_;
};

}  // namespace bench
