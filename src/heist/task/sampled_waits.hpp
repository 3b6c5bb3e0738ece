// SampledWaits: since when some of a home's tasks wait.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <heist/detail/levels.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/sync.hpp>
#include <optional>

namespace HEIST_NAMESPACE::detail {

// A table with places for times. The address of a task and what it was posted with say which place
// is the task's, so tasks need no memory for it. Each kind of task has places of its own, so that
// many that wait long leave room for others.
//
// Roles   poster: whoever makes a task runnable; it has the task for itself.  holder: whoever
//         starts the task, or destroys its callback.  reader: any thread.
// States  A place is free (zero), or it has the time since when its task waits.
// I1      Only a poster takes a free place, by a CAS, for a task that has no place; that task is
//         `is_sampled` from then on. Only the holder of that task frees the place, once. So what a
//         holder finds in its task's place is what the task's poster wrote.
// Edges   None of its own: the holder has got the task from the poster, by whatever edge passes
//         tasks on, so it reads what the poster wrote, or later. Places guard no data.
// Reclamation  A sender's operation that a closing home refuses keeps its place.
// Progress  wait-free: a poster that finds no free place leaves its task unsampled.
// Proof   stress/model/models/sampled_waits.cpp
template <std::size_t places_of_kind>
class SampledWaitsOf {
 public:
  using Time = std::uint64_t;

  /// Called by the poster: whether the task's place is free, as far as one can tell.
  [[nodiscard]] bool has_place_for(const SchedulerTask& task) noexcept {
    return place_of(task).load(sync::relaxed) == 0;  // relaxed: try_begin() looks again.
  }
  /// Called by the poster; `now` is not zero. Returns whether the task has got a place.
  [[nodiscard]] bool try_begin(const SchedulerTask& task, Time now) noexcept {
    Time free = 0;
    // relaxed: see Edges.
    return place_of(task).compare_exchange_strong(free, now, sync::relaxed, sync::relaxed);
  }
  /// Called by the holder of a sampled task: returns since when it waits.
  Time end(const SchedulerTask& task) noexcept {
    auto& place = place_of(task);
    const Time since = place.load(sync::relaxed);  // relaxed: see Edges.
    place.store(0, sync::relaxed);                 // relaxed: see Edges.
    return since;
  }
  /// Called by any thread: since when the sampled task waits that was made runnable first, of those
  /// that began at this level; nothing when none waits.
  [[nodiscard]] std::optional<Time> oldest_at(int level) const noexcept {
    std::optional<Time> oldest;
    for (std::size_t i = 0; i < places_of_kind; ++i) {
      // relaxed: a statistic.
      const Time since = places_[start_of(level) + i].load(sync::relaxed);
      if (since != 0 && (!oldest || since < *oldest)) oldest = since;
    }
    return oldest;
  }

 private:
  static constexpr int level_of_moving = level_count;  ///< tasks that move with their signals
  static constexpr std::size_t kinds = level_count + 1;

  [[nodiscard]] static constexpr std::size_t start_of(int kind) noexcept {
    return static_cast<std::size_t>(kind) * places_of_kind;
  }
  [[nodiscard]] sync::atomic<Time>& place_of(const SchedulerTask& task) noexcept {
    const int kind = task.is_dynamic ? level_of_moving : task.static_level();
    // The product's upper bits depend on all bits of the address.
    constexpr std::uint64_t odd = 0x9E37'79B9'7F4A'7C15;
    const auto mixed = (reinterpret_cast<std::uintptr_t>(&task) * odd) >> 32U;
    return places_[start_of(kind) + mixed % places_of_kind];
  }

  std::array<sync::atomic<Time>, kinds * places_of_kind> places_{};
};

#if defined(HEIST_MODEL)
using SampledWaits = SampledWaitsOf<1>;  // an atomic costs a model as much as a step
#else
using SampledWaits = SampledWaitsOf<128>;
#endif

}  // namespace HEIST_NAMESPACE::detail
