// The cooperative scheduler as it is usually written, after the published package: two binary heaps
// of shared tasks, a std::function for each, and the clock read for every question; on the same
// event loop as heist's, with the same slices.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <heist/cooperative_scheduler.hpp>
#include <heist/event_loop.hpp>
#include <heist/timeout.hpp>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {

class HeapCooperative {
 public:
  static constexpr const char* name = "heap";
  using Level = heist::CooperativePriority;
  using Milliseconds = heist::Milliseconds;
  struct Next;
  using Callback = std::function<Next()>;
  /// What a callback returns to go on.
  struct Next {
    Next() = default;
    template <class F>
    Next(F f) : callback(std::move(f)) {}  // NOLINT(google-explicit-constructor)
    Callback callback;
  };
  struct Task {
    Callback callback;
    Milliseconds start;
    Milliseconds expiration;
    std::uint64_t id;
  };
  using Handle = std::shared_ptr<Task>;

  template <class F>
  void run(F&& f) {
    loop_.scheduler().post(std::forward<F>(f));
    loop_.run_until_idle();
  }

  template <class F>
  Handle schedule(Level level, F f, Milliseconds delay = {}) {
    const Milliseconds time = now();
    const Milliseconds start = delay > Milliseconds::zero() ? time + delay : time;
    const auto task = std::make_shared<Task>(
        Task{callback_of(std::move(f)), start, start + time_to_expiry(level), ++last_id_});
    if (start > time) {
      delayed_.push(start, task);
      if (ready_.empty() && delayed_.top() == task) arm(time);
    } else {
      ready_.push(task->expiration, task);
      request_message();
    }
    return task;
  }
  static void cancel(const Handle& task) { task->callback = nullptr; }
  [[nodiscard]] bool should_yield() const { return now() - slice_start_ >= interval; }

 private:
  static constexpr Milliseconds interval{5};

  /// The least of (key, id) first; the keys stand in the heap, not behind the pointers.
  class Heap {
   public:
    [[nodiscard]] bool empty() const { return entries_.empty(); }
    [[nodiscard]] const Handle& top() const { return entries_.front().task; }
    void push(Milliseconds key, Handle task) {
      const auto id = task->id;
      entries_.push_back({key, id, std::move(task)});
      std::push_heap(entries_.begin(), entries_.end(), &is_later);
    }
    void pop() {
      std::pop_heap(entries_.begin(), entries_.end(), &is_later);
      entries_.pop_back();
    }

   private:
    struct Entry {
      Milliseconds key;
      std::uint64_t id;
      Handle task;
    };
    static bool is_later(const Entry& a, const Entry& b) {
      return a.key != b.key ? a.key > b.key : a.id > b.id;
    }
    std::vector<Entry> entries_;
  };

  static Milliseconds now() { return std::chrono::steady_clock::now().time_since_epoch(); }
  static Milliseconds time_to_expiry(Level level) {
    constexpr double after[] = {-1, 250, 5'000, 10'000, 1'073'741'823};
    return Milliseconds(after[static_cast<std::size_t>(level) - 1]);
  }
  template <class F>
  static Callback callback_of(F f) {
    if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
      return [f = std::move(f)]() mutable -> Next {
        f();
        return {};
      };
    } else {
      return [f = std::move(f)]() mutable -> Next { return f(); };
    }
  }

  void request_message() {
    if (std::exchange(has_message_, true)) return;
    loop_.scheduler().post([this] { work(); });
  }
  void arm(Milliseconds time) {
    static_cast<void>(timeout_.clear());
    timeout_ = heist::set_timeout([this] { promote_and_go_on(); }, delayed_.top()->start - time);
  }
  void promote_and_go_on() {
    const Milliseconds time = now();
    promote(time);
    if (!ready_.empty()) {
      request_message();
    } else if (!delayed_.empty()) {
      arm(time);
    }
  }
  void promote(Milliseconds time) {
    while (!delayed_.empty()) {
      const Handle& first = delayed_.top();
      if (first->callback != nullptr) {
        if (first->start > time) return;
        ready_.push(first->expiration, first);
      }
      delayed_.pop();
    }
  }
  void work() {
    Milliseconds time = slice_start_ = now();
    promote(time);
    while (!ready_.empty()) {
      const Handle task = ready_.top();
      if (task->expiration > time && should_yield()) return go_on_later();
      if (task->callback == nullptr) {
        ready_.pop();
        continue;
      }
      Next next = std::exchange(task->callback, nullptr)();
      time = now();
      if (next.callback != nullptr) {
        task->callback = std::move(next.callback);
        return go_on_later();
      }
      if (ready_.top() == task) ready_.pop();
      promote(time);
    }
    has_message_ = false;
    if (!delayed_.empty()) arm(time);
  }
  void go_on_later() {
    loop_.scheduler().post([this] { work(); });
  }

  heist::EventLoop loop_;
  heist::Timeout timeout_;
  Heap ready_;
  Heap delayed_;
  Milliseconds slice_start_{-1};
  std::uint64_t last_id_ = 0;
  bool has_message_ = false;
};

}  // namespace bench
