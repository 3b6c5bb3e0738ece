// PostBound: how many tasks of a bounded scheduler may wait to be started.
#pragma once

#include <cstddef>
#include <heist/promise.hpp>
#include <heist/detail/ref.hpp>
#include <utility>

namespace heist {

class PostBound;
void retain(PostBound& bound) noexcept;
void release(PostBound& bound) noexcept;

/// A place for one task that waits. Given back when it goes.
///
/// Thread: any; one at a time.
class Room {
 public:
  Room() noexcept = default;
  Room(Room&&) noexcept = default;
  Room& operator=(Room&& other) noexcept {
    std::swap(bound_, other.bound_);
    return *this;
  }
  ~Room() { leave(); }

  explicit operator bool() const noexcept { return static_cast<bool>(bound_); }
  /// Gives it back now: to whoever waits for one.
  ///
  /// Blocks: never.   Cost: one atomic operation when nobody waits.
  void leave() noexcept;

  /// For the library. A place of this bound, or none.
  [[nodiscard]] static Room try_take(const Ref<PostBound>& bound) noexcept;
  /// The same, once there is one, nearly in the order of the calls.   Errors: std::bad_alloc.
  [[nodiscard]] static Promise<Room> wait_for(const Ref<PostBound>& bound);
  /// Whether it is of this bound.
  [[nodiscard]] bool belongs_to(const Ref<PostBound>& bound) const noexcept {
    return bound_ == bound;
  }

 private:
  friend class PostBound;
  explicit Room(Ref<PostBound> bound) noexcept : bound_(std::move(bound)) {}

  Ref<PostBound> bound_;
};

/// A bound of so many places.   Errors: std::invalid_argument for none, or more than 2^31;
/// std::bad_alloc.
[[nodiscard]] Ref<PostBound> make_post_bound(std::size_t places);

}  // namespace heist
