// Rule: LIF-2, ABT-5, WPT: MT-14, DET-04: dependent and timeout signals, their sources, the
// scheduler, the loop, promises and subscriptions are destroyed in every order, with work that is
// queued, delayed, held back or between two turns. The sanitizers look after the memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "api/probes.hpp"

namespace heist {
namespace {

using namespace std::chrono_literals;

/// Where the work is when everything is torn down.
enum class Work {
  none,
  queued,
  delayed,
  held,          ///< by a suspended scheduler
  held_delayed,  ///< as above
  yielding,
  done,
  aborted
};
constexpr std::array works{Work::none,         Work::queued,   Work::delayed, Work::held,
                           Work::held_delayed, Work::yielding, Work::done,    Work::aborted};
constexpr std::array work_names{"none",         "queued",   "delayed", "held",
                                "held_delayed", "yielding", "done",    "aborted"};

/// What is destroyed, each on its own.
enum class Part {
  controller_a,
  controller_b,
  priority_controller,
  dependent,
  nested,
  timeout,
  stop_signal,
  stop_token,
  stop_source,
  scheduler,
  host,
  promise,
  subscription,
};
struct Group {
  const char* name;
  std::vector<Part> parts;  ///< in every order; the others go afterwards
};

std::vector<Group> groups() {
  using enum Part;
  return {
      {"sources", {controller_a, controller_b, dependent, nested}},
      {"priority", {priority_controller, dependent, nested, host}},
      {"timeout", {timeout, dependent, host, subscription}},
      {"work", {dependent, scheduler, host, promise}},
      {"observed", {controller_a, nested, subscription, promise}},
      {"stop", {stop_source, stop_signal, stop_token, dependent}},
      {"all_kinds", {controller_a, timeout, nested, host, promise}},
  };
}

Promise<int> turns(Scheduler scheduler, std::shared_ptr<int> probe) {
  const std::shared_ptr<int> local = probe;
  for (;;) co_await scheduler.yield();
}

class SignalParts {
 public:
  explicit SignalParts(Work work) : scheduler_(loop_->scheduler()) {
    listen();
    post(work);
  }
  /// The rest in the order of the members.
  ~SignalParts() = default;
  SignalParts(const SignalParts&) = delete;
  SignalParts& operator=(const SignalParts&) = delete;

  void destroy(Part part) {
    switch (part) {
      case Part::controller_a:
        return a_.reset();
      case Part::controller_b:
        return b_.reset();
      case Part::priority_controller:
        return priority_.reset();
      case Part::dependent:
        return dependent_.reset();
      case Part::nested:
        return nested_.reset();
      case Part::timeout:
        return timeout_.reset();
      case Part::stop_signal:
        return stop_signal_.reset();
      case Part::stop_token:
        return token_.reset();
      case Part::stop_source:
        return stop_source_.reset();
      case Part::scheduler:
        return scheduler_.reset();
      case Part::host:
        return loop_.reset();
      case Part::promise:
        return promise_.reset();
      case Part::subscription:
        return subscriptions_.clear();
    }
  }
  void destroy_rest() {
    using enum Part;
    for (const Part part :
         {subscription, promise, scheduler, nested, dependent, timeout, stop_token, stop_signal,
          stop_source, priority_controller, controller_b, controller_a, host}) {
      destroy(part);
    }
  }
  /// What is still there works: an abort reaches what depends on it, a change those that follow.
  void use() {
    if (priority_) priority_->set_priority(TaskPriority::background);
    if (priority_ && nested_) {
      EXPECT_EQ(nested_->priority(), TaskPriority::background);
    }
    if (b_) b_->abort();
    if (b_ && dependent_) {
      EXPECT_TRUE(dependent_->aborted());
    }
    if (b_ && nested_) {
      EXPECT_TRUE(nested_->aborted());
    }
    if (b_ && nested_ && token_) {
      EXPECT_TRUE(token_->stop_requested());
    }
  }
  [[nodiscard]] std::optional<Promise<int>> promise() const { return promise_; }

  /// Copies of it are in everything the tasks and the listeners own.
  const std::shared_ptr<int> probe = std::make_shared<int>();

 private:
  void listen() {
    for (const AbortSignal& signal : {AbortSignal(*dependent_), AbortSignal(*nested_), *timeout_}) {
      subscriptions_.push_back(signal.on_abort([probe = probe] {}));
    }
    subscriptions_.push_back(nested_->on_priority_change([probe = probe] {}));
  }

  void post(Work work) {
    PostTaskOptions options{.signal = *nested_};
    if (work == Work::delayed || work == Work::held_delayed) options.delay = 2h;
    const auto callback = [probe = probe] { return *probe; };
    if (work == Work::none) return;
    if (work == Work::yielding) {
      promise_ = scheduler_->post_task(
          [scheduler = *scheduler_, probe = probe] { return turns(scheduler, probe); }, options);
      loop_->poll();
      return;
    }
    promise_ = scheduler_->post_task(callback, options);
    if (work == Work::held || work == Work::held_delayed) scheduler_->suspend();
    if (work == Work::aborted) a_->abort();
    if (work != Work::queued) loop_->run_until_idle();
  }

  std::optional<EventLoop> loop_ = std::make_optional<EventLoop>(test::on_virtual_clock());
  std::optional<TaskController> a_ = std::make_optional<TaskController>();
  std::optional<AbortController> b_ = std::make_optional<AbortController>();
  std::optional<TaskController> priority_ = std::make_optional<TaskController>();
  std::optional<std::stop_source> stop_source_ = std::make_optional<std::stop_source>();
  std::optional<AbortSignal> stop_signal_ = AbortSignal::from(stop_source_->get_token());
  std::optional<AbortSignal> timeout_ = AbortSignal::timeout(loop_->scheduler(), 1h);
  std::optional<TaskSignal> dependent_ =
      TaskSignal::any({a_->signal(), b_->signal(), *timeout_, *stop_signal_}, priority_->signal());
  std::optional<TaskSignal> nested_ = TaskSignal::any({*dependent_}, *dependent_);
  std::optional<std::stop_token> token_ = nested_->stop_token();
  std::optional<Scheduler> scheduler_;
  std::optional<Promise<int>> promise_;
  std::vector<Subscription> subscriptions_;
};

class Lif2Signals : public testing::TestWithParam<std::size_t> {
 protected:
  static Work work() { return works[GetParam()]; }

  static std::size_t factorial(std::size_t n) { return n < 2 ? 1 : n * factorial(n - 1); }

  /// Calls `teardown(order)` with every order of each group.
  template <class Teardown>
  static void in_every_order(const Teardown& teardown) {
    for (Group& group : all_) {
      SCOPED_TRACE(group.name);
      std::size_t orders = 0;
      do {
        teardown(std::as_const(group.parts));
        ++orders;
      } while (std::next_permutation(group.parts.begin(), group.parts.end()));
      EXPECT_EQ(orders, factorial(group.parts.size()));
    }
  }

 private:
  static inline std::vector<Group> all_ = [] {
    auto all = groups();
    for (Group& group : all) std::sort(group.parts.begin(), group.parts.end());
    return all;
  }();
};

TEST_P(Lif2Signals, parts_when_destroyed_in_every_order_then_nothing_is_left_or_unsettled) {
  in_every_order([](const std::vector<Part>& order) {
    SignalParts parts(work());
    const auto promise = parts.promise();
    for (const Part part : order) parts.destroy(part);
    parts.destroy_rest();
    if (promise) {
      EXPECT_NE(promise->status(), PromiseStatus::pending);
    }
    EXPECT_EQ(parts.probe.use_count(), 1);
  });
}

// Half of the group is gone: what is left still does what it is for.
TEST_P(Lif2Signals, parts_when_some_are_gone_then_the_others_still_work) {
  in_every_order([](const std::vector<Part>& order) {
    SignalParts parts(work());
    const auto promise = parts.promise();
    const auto half = order.size() / 2;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i == half) parts.use();
      parts.destroy(order[i]);
    }
    parts.destroy_rest();
    if (promise) {
      EXPECT_NE(promise->status(), PromiseStatus::pending);
    }
    EXPECT_EQ(parts.probe.use_count(), 1);
  });
}

INSTANTIATE_TEST_SUITE_P(All, Lif2Signals, testing::Range(std::size_t{0}, works.size()),
                         [](const auto& test) { return std::string(work_names[test.param]); });

}  // namespace
}  // namespace heist
