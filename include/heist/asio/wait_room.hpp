// WaitRoom: the memory in which Asio keeps the end of a wait until an io_context calls the handler.
#pragma once

#include <array>
#include <cstddef>
#include <heist/asio/library.hpp>
#include <heist/version.hpp>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace HEIST_ASIO_NAMESPACE {

/// Memory for one thing that Asio allocates. It is a part of what Asio keeps there a share of.
class WaitRoom {
 public:
  static constexpr std::size_t bytes = 64;
  [[nodiscard]] void* memory() noexcept { return memory_.data(); }

 private:
  alignas(std::max_align_t) std::array<std::byte, bytes> memory_;
};

/// Gives Asio the room instead of other memory, so that asking cannot fail.
template <class T>
class RoomAllocator {
 public:
  using value_type = T;  // NOLINT(readability-identifier-naming): the standard's name

  explicit RoomAllocator(WaitRoom& room) noexcept : room_(&room) {}
  template <class Other>
  explicit RoomAllocator(const RoomAllocator<Other>& other) noexcept : room_(other.room()) {}

  [[nodiscard]] T* allocate(std::size_t count) const {
    static_assert(sizeof(T) <= WaitRoom::bytes && alignof(T) <= alignof(std::max_align_t));
    if (count != 1) throw std::bad_alloc();
    return static_cast<T*>(room_->memory());
  }
  /// The room goes with the wait, which may be gone already.
  void deallocate(T* /*memory*/, std::size_t /*count*/) const noexcept {}

  [[nodiscard]] WaitRoom* room() const noexcept { return room_; }
  friend bool operator==(const RoomAllocator& one, const RoomAllocator& other) noexcept = default;

 private:
  WaitRoom* room_;
};

/// A function that Asio keeps in a room.
template <class Function>
struct InRoom {
  using allocator_type = RoomAllocator<void>;

  [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type(*room); }
  void operator()() { function(); }

  Function function;
  WaitRoom* room;
};

/// Whether an executor is that of an io_context, with any of its properties.
template <class Executor>
inline constexpr bool is_io_executor = false;
template <class Allocator, auto bits>
inline constexpr bool is_io_executor<net::io_context::basic_executor_type<Allocator, bits>> = true;

/// Posts `function()` to an executor. If that belongs to an io_context, the function is kept in the
/// room, and no other memory is asked for. The same holds for an `any_io_executor` that was
/// made of `io_context::get_executor()`; with other properties it is not recognised.
template <class Executor, class Function>
void post_in_room(const Executor& executor, WaitRoom& room, Function function) {
  if constexpr (is_io_executor<Executor>) {
    net::post(executor, InRoom<Function>{std::move(function), &room});
    return;
  } else if constexpr (std::is_same_v<Executor, net::any_io_executor>) {
    if (const auto* io = executor.template target<net::io_context::executor_type>()) {
      return post_in_room(*io, room, std::move(function));
    }
  }
  net::post(executor, std::move(function));
}

}  // namespace HEIST_ASIO_NAMESPACE
