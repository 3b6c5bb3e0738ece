// ModelTime: the steady clock of a model.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/detail/sync.hpp>

namespace heist::model {

using namespace detail;

/// The steady clock of one execution, if a model makes one first: it stands still, but for the end
/// of a sleep with a deadline, which comes when the search wants it to; then it is the deadline.
/// (The link of the models sends std::chrono::steady_clock::now() here.)
class ModelTime {
 public:
  using Clock = std::chrono::steady_clock;

  ModelTime() noexcept;
  ~ModelTime();
  ModelTime(const ModelTime&) = delete;
  ModelTime& operator=(const ModelTime&) = delete;

  /// The one that the running execution has made, or null.
  [[nodiscard]] static ModelTime* current() noexcept;

  [[nodiscard]] Clock::time_point now() const noexcept;
  void slept_until(Clock::time_point deadline) noexcept;

  /// A delay of which the clock's range has no end: who sleeps for it sleeps until it is woken.
  static constexpr std::chrono::hours beyond_range{24L * 365 * 120};

 private:
  /// So late that there is less than beyond_range to come.
  static constexpr std::chrono::hours start{24L * 365 * 250};
  static inline ModelTime* current_ = nullptr;

  sync::atomic<std::int64_t> now_{std::chrono::nanoseconds(start).count()};
};

}  // namespace heist::model
