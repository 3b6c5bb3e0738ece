// AgeMarks: since when tasks have been waiting, told by their enqueue order alone.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace heist::detail {

/// For tasks of one priority, whose wait has a maximum: tasks have no time of their own, but at
/// picks it is noted which enqueue order comes next. What is older was runnable by then.
///
/// Agent only.
/// I1      Marks are in the order of their times and of their enqueue orders; until the maximum is
///         over they are at least a sixteenth of it apart, so that so many need no more than
///         `young` places.
/// I2      The last `late_`th is the newest whose maximum wait is over; it is not thinned out while
///         it is.
/// Bound   `places` marks. Those that tell older waits apart are thinned out when all are in use:
///         they stay near to each other by comparison with how long ago they are.
class AgeMarks {
 public:
  using Time = std::chrono::nanoseconds;

  /// `most` is the maximum wait; zero means that there is none.
  explicit AgeMarks(Time most) noexcept : most_(most), step_((most + Time(young - 1)) / young) {}

  [[nodiscard]] bool is_off() const noexcept { return most_ == Time::zero(); }
  /// Whether a mark is due: `next_order` is the next that a task will get.
  [[nodiscard]] bool wants_mark(Time now, std::uint64_t next_order) const noexcept {
    if (count_ == 0) return true;
    const Mark& newest = marks_[count_ - 1];
    return now - newest.time >= step_ && newest.order != next_order;
  }
  /// `oldest` is the enqueue order of the oldest task that waits.
  void mark(Time now, std::uint64_t next_order, std::uint64_t oldest) noexcept {
    note_time(now);
    if (count_ == places) forget_before(oldest);
    if (count_ == places) thin_out(now);
    marks_[count_++] = {now, next_order};
  }
  /// To be called once for each `now`, before the functions that follow.
  void note_time(Time now) noexcept {
    while (late_ < count_ && now - marks_[late_].time >= most_) ++late_;
  }
  /// Whether a task's maximum wait was over at the time noted. It may say no for a sixteenth of
  /// that too long.
  [[nodiscard]] bool is_late(std::uint64_t order) const noexcept {
    return late_ != 0 && order < marks_[late_ - 1].order;
  }
  /// When the task's maximum wait was over, as nearly as the marks tell.   Precondition:
  /// is_late(order).   Cost: O(log marks).
  [[nodiscard]] Time end_of_wait(std::uint64_t order) const noexcept {
    const auto by = std::upper_bound(
        marks_.begin(), end_of_late(), order,
        [](std::uint64_t sought, const Mark& mark) { return sought < mark.order; });
    return by->time + most_;
  }

 private:
  struct Mark {
    Time time{};
    std::uint64_t order = 0;
  };
  static constexpr std::size_t young = 16;
  static constexpr std::size_t places = 64;
  using Marks = std::array<Mark, places>;

  [[nodiscard]] Marks::const_iterator end_of_late() const noexcept {
    return marks_.begin() + static_cast<std::ptrdiff_t>(late_);
  }
  void erase(std::size_t first, std::size_t count) noexcept {
    const auto at = marks_.begin() + static_cast<std::ptrdiff_t>(first);
    std::move(at + static_cast<std::ptrdiff_t>(count), marks_.end(), at);
    count_ -= count;
    late_ -= count;
  }
  /// Forgets the marks that tell no task from another one any more. The newest late one stays.
  void forget_before(std::uint64_t oldest) noexcept {
    std::size_t past = 0;
    while (past + 1 < late_ && marks_[past].order <= oldest) ++past;
    erase(0, past);
  }
  /// Forgets the late mark that is missed least: its neighbours are near to each other, and long
  /// ago.
  void thin_out(Time now) noexcept {
    std::size_t least = 1;
    for (std::size_t at = 2; at + 1 < late_; ++at) {
      if (miss(at, now) < miss(least, now)) least = at;
    }
    erase(least, 1);
  }
  [[nodiscard]] double miss(std::size_t at, Time now) const noexcept {
    const auto gap = marks_[at + 1].time - marks_[at - 1].time;
    return static_cast<double>(gap.count()) / static_cast<double>((now - marks_[at].time).count());
  }

  Time most_;
  Time step_;
  Marks marks_{};
  std::size_t count_ = 0;
  std::size_t late_ = 0;
};

}  // namespace heist::detail
