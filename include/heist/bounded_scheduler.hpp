// BoundedScheduler: a scheduler that refuses, or lets wait, what goes beyond a number of waiting
// tasks.
#pragma once

#include <cstddef>
#include <functional>
#include <heist/detail/export.hpp>
#include <heist/detail/misuse.hpp>
#include <heist/detail/post_bound.hpp>
#include <heist/error.hpp>
#include <heist/scheduler.hpp>
#include <heist/version.hpp>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE {

/// A place for one task that waits. It is given back when this object is destroyed.
///
/// Thread: any; one at a time.
class HEIST_EXPORT Room {
 public:
  Room() noexcept = default;
  Room(Room&&) noexcept = default;
  Room& operator=(Room&& other) noexcept {
    std::swap(bound_, other.bound_);
    return *this;
  }
  ~Room() { leave(); }

  /// Whether it has a place.
  explicit operator bool() const noexcept { return static_cast<bool>(bound_); }
  /// Gives the place back now; whoever waits for one gets it.
  ///
  /// Blocks: never.   Cost: one atomic operation when nobody waits.
  void leave() noexcept;

 private:
  friend struct detail::Access;
  friend class BoundedScheduler;
  friend class detail::PostBound;

  /// Whether it is a place of this bound.
  [[nodiscard]] bool belongs_to(const detail::Ref<detail::PostBound>& bound) const noexcept {
    return bound_ == bound;
  }
  explicit Room(detail::Ref<detail::PostBound> bound) noexcept : bound_(std::move(bound)) {}

  detail::Ref<detail::PostBound> bound_;
};

namespace detail {

/// A callback, and the place it takes until it starts.
template <class Callback>
class InRoom {
 public:
  template <class F>
  InRoom(Room room, F&& callback) : room_(std::move(room)), callback_(std::forward<F>(callback)) {}
  decltype(auto) operator()() {
    room_.leave();
    return std::invoke(callback_);
  }

 private:
  Room room_;
  Callback callback_;
};

}  // namespace detail

/// What became of a post without a promise.
enum class PostResult : std::uint8_t {
  posted,
  full,     ///< as many tasks as are allowed wait to be started
  refused,  ///< the loop is closed, or the signal aborted
};

/// A scheduler of which at most so many tasks wait at a time: posted or delayed, and not yet
/// started, aborted or dropped. What goes beyond that is refused, or its poster waits: nothing
/// grows without end.
///
///     BoundedScheduler bounded(cluster.scheduler(), 1000);
///     auto result = bounded.post_task(work);     // full: rejected with QuotaExceededError
///     auto room = co_await bounded.room();       // waits in line
///     bounded.post_task(std::move(room), work);  // never full
///
/// Copies share the bound. Yields and reactions are not counted: they belong to tasks that have
/// started.
///
/// Spec:     contract LIF-5, SEC-1.
/// Thread:   any; one handle is used by one thread at a time, copies may be anywhere.
/// Lifetime: as a Scheduler's; whoever waits for room when the loop is closed gets it, and posting
///         is refused.
class HEIST_EXPORT BoundedScheduler {
 public:
  /// Errors: std::invalid_argument for a bound of 0, or above 2^31; std::bad_alloc.
  BoundedScheduler(Scheduler scheduler, std::size_t most_waiting)
      : scheduler_(std::move(scheduler)), bound_(detail::make_post_bound(most_waiting)) {}

  /// As Scheduler::post_task; when all places are taken, the promise is rejected with
  /// QuotaExceededError. The options must not be part of the callback, which moves first.
  ///
  /// Thread: any, lock-free.   Blocks: never.
  /// Cost:   as Scheduler::post_task, and two atomic operations.
  template <class Callback>
    requires std::invocable<std::decay_t<Callback>&>
  auto post_task(Callback&& callback, const PostTaskOptions& options = {}) const {
    using Result = detail::SettledType<std::invoke_result_t<std::decay_t<Callback>&>>;
    check_valid("BoundedScheduler::post_task");
    Room room = detail::try_take_room(bound_);
    if (!room) return Promise<Result>::rejected(full_reason());
    return post_task(std::move(room), std::forward<Callback>(callback), options);
  }
  /// As Scheduler::post; when all places are taken, the result says so.
  template <class Callback>
    requires std::invocable<std::decay_t<Callback>&>
  PostResult post(Callback&& callback, const PostTaskOptions& options = {}) const {
    check_valid("BoundedScheduler::post");
    Room room = detail::try_take_room(bound_);
    if (!room) return PostResult::full;
    return post(std::move(room), std::forward<Callback>(callback), options);
  }

  /// A place for one task, once there is one: `co_await` it, and post with it. Who asked first gets
  /// one first (threads that ask at once in any order); posts without a place are refused
  /// meanwhile.
  ///
  /// Thread: any, lock-free.   Blocks: never.   Errors: std::bad_alloc; std::invalid_argument when
  /// this handle was moved from. Nothing changed then.
  // NOLINTNEXTLINE(readability-const-return-type): see heist/detail/await_warning.hpp.
  [[nodiscard]] const Promise<Room> room() const {
    check_valid("BoundedScheduler::room");
    return detail::wait_for_room(bound_);
  }

  /// As the posts above, with a place that room() gave.
  ///
  /// Errors: also std::invalid_argument for a place of another bound, or one that is used up.
  template <class Callback>
    requires std::invocable<std::decay_t<Callback>&>
  auto post_task(Room room, Callback&& callback, const PostTaskOptions& options = {}) const {
    check_valid("BoundedScheduler::post_task");
    detail::check_callback(callback, "BoundedScheduler::post_task");
    return scheduler_.post_task(put(std::move(room), std::forward<Callback>(callback)), options);
  }
  template <class Callback>
    requires std::invocable<std::decay_t<Callback>&>
  PostResult post(Room room, Callback&& callback, const PostTaskOptions& options = {}) const {
    check_valid("BoundedScheduler::post");
    detail::check_callback(callback, "BoundedScheduler::post");
    const bool posted =
        scheduler_.post(put(std::move(room), std::forward<Callback>(callback)), options);
    return posted ? PostResult::posted : PostResult::refused;
  }

 private:
  template <class Callback>
  detail::InRoom<std::decay_t<Callback>> put(Room room, Callback&& callback) const {
    check(room);
    return {std::move(room), std::forward<Callback>(callback)};
  }
  void check_valid(const char* call) const {
    if (!bound_) [[unlikely]]
      detail::refuse_moved_from(call);
  }
  void check(const Room& room) const;
  static Reason full_reason();

  Scheduler scheduler_;
  detail::Ref<detail::PostBound> bound_;
};

}  // namespace HEIST_NAMESPACE
