// with_parallel_bulk: schedulers of std::execution on which bulk is a parallel loop, which the
// agents of a cluster share. It needs the targets heist::execution and heist::parallel.
#pragma once

#include <heist/delay.hpp>
#include <heist/detail/durations.hpp>
#include <heist/execution/bulk_domain.hpp>
#include <heist/execution/delay_sender.hpp>
#include <heist/execution/library.hpp>
#include <heist/execution/schedule_sender.hpp>
#include <heist/execution/task_scheduler.hpp>
#include <utility>

namespace HEIST_NAMESPACE::execution {

/// A TaskScheduler or SignalScheduler with another bulk.
template <class OfScheduler>
class BulkScheduler {
 public:
  using scheduler_concept = SchedulerTag;

  [[nodiscard]] ScheduleSender<BulkScheduler> schedule() const noexcept {
    return ScheduleSender<BulkScheduler>(*this);
  }
  /// As those of the scheduler.
  [[nodiscard]] std::chrono::steady_clock::time_point now() const noexcept {
    return scheduler_.now();
  }
  [[nodiscard]] DelaySender<BulkScheduler, WaitFor> schedule_after(Delay delay) const noexcept {
    return {*this, WaitFor{delay}};
  }
  [[nodiscard]] DelaySender<BulkScheduler, WaitUntil> schedule_at(
      std::chrono::steady_clock::time_point time) const noexcept {
    return {*this, WaitUntil{time}};
  }
  [[nodiscard]] static constexpr auto query(ex::get_forward_progress_guarantee_t query) noexcept {
    return OfScheduler::query(query);
  }
  [[nodiscard]] BulkScheduler query(
      ex::get_completion_scheduler_t<ex::set_value_t> /*query*/) const noexcept {
    return *this;
  }
  [[nodiscard]] BulkScheduler query(
      ex::get_completion_scheduler_t<ex::set_stopped_t> /*query*/) const noexcept {
    return *this;
  }
  [[nodiscard]] static BulkDomain query(
      ex::get_completion_domain_t<ex::set_value_t> /*query*/) noexcept {
    return {};
  }

  friend bool operator==(const BulkScheduler&, const BulkScheduler&) noexcept = default;

 private:
  friend class ScheduleSender<BulkScheduler>;
  template <class Other, class Wait>
  friend class DelaySender;
  template <class Other>
  friend BulkScheduler<Other> with_parallel_bulk(Other scheduler) noexcept;

  explicit BulkScheduler(OfScheduler scheduler) noexcept : scheduler_(std::move(scheduler)) {}
  [[nodiscard]] auto& core() const noexcept { return scheduler_.core(); }
  [[nodiscard]] auto own_priority() const noexcept { return scheduler_.own_priority(); }
  [[nodiscard]] auto own_signal() const noexcept { return scheduler_.own_signal(); }

  OfScheduler scheduler_;
};

/// The same scheduler, on which `bulk`, `bulk_chunked` and `bulk_unchunked` share their calls among
/// the agents of its cluster if the policy is `par` or `par_unseq`, as parallel_for() does, at the
/// priority of the task in which they begin. On an event loop its thread makes all calls.
///
/// Spec: contract SND-9.   Thread: any.   Cost: as parallel_for(); operations allocate nothing.
template <class OfScheduler>
[[nodiscard]] BulkScheduler<OfScheduler> with_parallel_bulk(OfScheduler scheduler) noexcept {
  return BulkScheduler<OfScheduler>(std::move(scheduler));
}

}  // namespace HEIST_NAMESPACE::execution
