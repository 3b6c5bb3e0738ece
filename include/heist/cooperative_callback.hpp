// CooperativeCallback: what a cooperative task calls, and may return to be called next; slice: what
// a coroutine that is such a task awaits.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <heist/cooperative_host.hpp>
#include <heist/detail/cooperative_call.hpp>
#include <heist/detail/misuse.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/promise.hpp>
#include <heist/version.hpp>
#include <memory>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE {

namespace detail::cooperative {

/// Calls a callback that is a coroutine, and keeps it until that coroutine has ended. That it was
/// cancelled is no error.
template <class Callback>
Promise<void> run_coroutine(Callback callback, Slice slice) {
  try {
    auto running = call(callback, slice);
    static_cast<void>(co_await running.taken());
  } catch (const AbortError&) {
    co_return;
  }
}

}  // namespace detail::cooperative

/// A callable that is called once at most, with the slice it runs in or with nothing. What it
/// returns decides how its task goes on:
///
/// - nothing: the task is done;
/// - a CooperativeCallback, or what converts to one: that is called next;
/// - a Promise: it is a coroutine, which awaits slice(). This is for event loops only: on a
///   CooperativeHost it is not called, and NotAllowedError comes out of perform_work().
///
/// A null pointer and an empty std::function make an empty CooperativeCallback.
///
/// Cost: no allocation up to 40 bytes of capture, else one, from a recycled pool; for a coroutine
///       its frame, and another one that keeps the callback.
class CooperativeCallback {
 public:
  /// An empty one: there is nothing to call.
  CooperativeCallback() noexcept = default;
  template <class Callback>
    requires(!std::same_as<std::decay_t<Callback>, CooperativeCallback> &&
             detail::cooperative::Callable<std::decay_t<Callback>>)
  // NOLINTNEXTLINE(google-explicit-constructor): `return [] { … };` is the point.
  CooperativeCallback(Callback&& callback) {
    using Held = std::decay_t<Callback>;
    if (detail::is_nothing(callback)) return;
    if constexpr (fits<Held>) {
      std::construct_at(static_cast<Held*>(place()), std::forward<Callback>(callback));
      ops_ = &Inline<Held>::table;
    } else {
      std::construct_at(static_cast<Held**>(place()),
                        detail::make_node<Held>(std::forward<Callback>(callback)));
      ops_ = &Pooled<Held>::table;
    }
  }
  CooperativeCallback(CooperativeCallback&& other) noexcept
      : ops_(std::exchange(other.ops_, nullptr)) {
    move_from(other);
  }
  CooperativeCallback& operator=(CooperativeCallback&& other) noexcept {
    if (this == &other) return *this;
    reset();
    ops_ = std::exchange(other.ops_, nullptr);
    move_from(other);
    return *this;
  }
  ~CooperativeCallback() { reset(); }

  /// Whether there is something to call.
  explicit operator bool() const noexcept { return ops_ != nullptr; }
  /// Destroys what there is to call; it is empty then.
  void reset() noexcept;

 private:
  friend struct detail::Access;
  friend class detail::CallbackTaken;
  static constexpr std::size_t room = 40;

  struct Ops {
    CooperativeCallback (*call)(void*, const Slice&);
    void (*move)(void* from, void* to) noexcept;  ///< null: its bytes are copied
    void (*destroy)(void*) noexcept;              ///< null: nothing is to be done
  };

  template <class Held>
  static constexpr bool fits = sizeof(Held) <= room && alignof(Held) <= alignof(void*) &&
                               std::is_nothrow_move_constructible_v<Held>;

  template <class Held>
  static CooperativeCallback call_held(Held& held, const Slice& slice) {
    using Result = decltype(detail::cooperative::call(held, slice));
    if constexpr (std::is_void_v<Result>) {
      detail::cooperative::call(held, slice);
      return {};
    } else if constexpr (detail::is_promise<Result>) {
      static_assert(!std::same_as<Result, Promise<CooperativeCallback>>,
                    "a coroutine goes on by co_await slice(); nobody calls what it returns");
      detail::cooperative::check_coroutine();
      static_cast<void>(detail::cooperative::run_coroutine(std::move(held), slice));
      return {};
    } else {
      static_assert(std::convertible_to<Result, CooperativeCallback>,
                    "a cooperative task returns nothing, what is to be called next, or a Promise");
      return detail::cooperative::call(held, slice);
    }
  }

  template <class Held>
  struct Inline {
    static Held& at(void* place) noexcept { return *static_cast<Held*>(place); }
    static CooperativeCallback call(void* place, const Slice& slice) {
      return call_held(at(place), slice);
    }
    static void move(void* from, void* to) noexcept {
      std::construct_at(static_cast<Held*>(to), std::move(at(from)));
      std::destroy_at(&at(from));
    }
    static void destroy(void* place) noexcept { std::destroy_at(&at(place)); }
    static constexpr bool is_trivial = std::is_trivially_copyable_v<Held>;
    static constexpr Ops table{&call, is_trivial ? nullptr : &move,
                               is_trivial ? nullptr : &destroy};
  };
  template <class Held>
  struct Pooled {
    static Held*& at(void* place) noexcept { return *static_cast<Held**>(place); }
    static CooperativeCallback call(void* place, const Slice& slice) {
      return call_held(*at(place), slice);
    }
    static void destroy(void* place) noexcept { detail::destroy_node(*at(place)); }
    static constexpr Ops table{&call, nullptr, &destroy};
  };

  /// Takes over the callable that `ops_`, which have been taken over already, belong to.
  void move_from(CooperativeCallback& other) noexcept {
    if (ops_ == nullptr) return;
    if (ops_->move == nullptr) {
      std::memcpy(place(), other.place(), room);
    } else {
      ops_->move(other.place(), place());
    }
  }

  void* place() noexcept { return storage_.data(); }

  const Ops* ops_ = nullptr;
  alignas(void*) std::array<std::byte, room> storage_;  // NOLINT: made when there is a callable
};

namespace detail {

/// A callback that is about to be called. The callable stays where it is and is destroyed there by
/// this object, but the CooperativeCallback counts as empty from here on.
class CallbackTaken {
 public:
  explicit CallbackTaken(CooperativeCallback& callback) noexcept
      : place_(callback.place()), ops_(std::exchange(callback.ops_, nullptr)) {}
  CallbackTaken(const CallbackTaken&) = delete;
  CallbackTaken& operator=(const CallbackTaken&) = delete;
  ~CallbackTaken() {
    if (ops_ != nullptr && ops_->destroy != nullptr) ops_->destroy(place_);
  }
  /// Precondition: the callback was not empty.
  [[nodiscard]] CooperativeCallback operator()(const Slice& slice) const {
    return ops_->call(place_, slice);
  }

 private:
  void* place_;
  const CooperativeCallback::Ops* ops_;
};

}  // namespace detail

inline void CooperativeCallback::reset() noexcept { const detail::CallbackTaken taken(*this); }

/// `co_await slice()` in a coroutine that a CooperativeScheduler calls: goes on at once while there
/// is time left, or the task is late; else the rest of the coroutine is the task's next callback.
/// It gives the slice it goes on in. When the task is cancelled meanwhile the coroutine is
/// destroyed, and its promise rejected with an AbortError.
///
/// Coroutines that it calls and awaits may await slice(), too. What settles only later, in another
/// task, resumes it outside of its cooperative task: there slice() is refused.
///
/// Spec:   contract COOP-8.   Thread: the loop's.
/// Errors: of the `co_await`: NotAllowedError outside of a cooperative task, and for a second
///         coroutine in one call.
/// Cost:   should_yield(); nothing is allocated.
inline detail::SliceAwaiter slice() noexcept { return {}; }

}  // namespace HEIST_NAMESPACE
