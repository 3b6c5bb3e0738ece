// JobCounts: how many unfinished jobs are in which state.
#pragma once

#include <algorithm>
#include <boost/multi_index/identity.hpp>
#include <boost/multi_index/ranked_index.hpp>
#include <boost/multi_index_container.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <optional>

namespace heistd {

/// How many unfinished jobs of something there are.
struct Depth {
  std::size_t delayed = 0;
  std::size_t queued = 0;
  std::size_t running = 0;

  Depth& operator+=(const Depth& other) noexcept {
    delayed += other.delayed;
    queued += other.queued;
    running += other.running;
    return *this;
  }
};

/// Counts the unfinished jobs of one priority or of one signal name as they change their state, so
/// that nobody has to look at each of them.
///
/// Thread: the network's; note_start() on any.   Cost: of a delayed job, and of depth(), the
///         logarithm of their number.
class JobCounts {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  /// Sorted, and each entry knows how many are before it.
  using Delays = boost::multi_index_container<
      TimePoint, boost::multi_index::indexed_by<boost::multi_index::ranked_non_unique<
                     boost::multi_index::identity<TimePoint>>>>;
  /// Where a delayed job stands; nothing for one without a delay.
  using Place = std::optional<Delays::iterator>;

  /// Errors: std::bad_alloc.
  [[nodiscard]] Place add(bool has_delay, TimePoint runnable_at) {
    Place place;
    if (has_delay) place = delays_.insert(runnable_at).first;
    ++unfinished_;
    return place;
  }
  void remove(const Place& place, bool started) {
    if (place) delays_.erase(*place);
    --unfinished_;
    // relaxed, here and below: the number guards nothing, and whoever reads it may be early or
    // late.
    if (started) running_.fetch_sub(1, heist::detail::sync::relaxed);
  }
  /// For a job of which memory has a record only; what wakes it removes it and adds it anew.
  void add_waiting(bool is_delayed) noexcept { ++(is_delayed ? waiting_delayed_ : waiting_); }
  void remove_waiting(bool is_delayed) noexcept { --(is_delayed ? waiting_delayed_ : waiting_); }
  /// An agent, once for each job that starts.
  void note_start() noexcept { running_.fetch_add(1, heist::detail::sync::relaxed); }

  [[nodiscard]] std::size_t unfinished() const noexcept { return unfinished_; }
  [[nodiscard]] Depth depth(TimePoint now) const {
    Depth depth;
    // A job is removed as soon as the network knows of its end, which may be before its start is
    // counted.
    const auto running = running_.load(heist::detail::sync::relaxed);
    depth.running =
        std::min(unfinished_, static_cast<std::size_t>(std::max<std::int64_t>(running, 0)));
    const auto over = delays_.rank(delays_.upper_bound(now));
    depth.delayed = std::min(unfinished_ - depth.running, delays_.size() - over);
    depth.queued = unfinished_ - depth.running - depth.delayed + waiting_;
    depth.delayed += waiting_delayed_;
    return depth;
  }

 private:
  Delays delays_;
  std::size_t unfinished_ = 0;
  std::size_t waiting_ = 0;          ///< jobs of which there is a record only
  std::size_t waiting_delayed_ = 0;  ///< the same of delayed ones
  heist::detail::sync::atomic<std::int64_t> running_{0};
};

}  // namespace heistd
