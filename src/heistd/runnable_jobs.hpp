// RunnableJobs: how many jobs may run now, or run.
#pragma once

#include <cstddef>
#include <heist/detail/sync.hpp>
#include <memory>
#include <utility>

namespace heistd {

/// Counts the jobs whose delay is over and that have not ended. A drain waits for them, also while
/// no agent has anything to run: a program may be at work for them, a handler may wait for
/// something, or a journal is to count a start.
///
/// Thread: any.
class RunnableJobs {
 public:
  /// Counts a job while it lives.
  class Share {
   public:
    explicit Share(std::shared_ptr<RunnableJobs> jobs) noexcept : jobs_(std::move(jobs)) {
      jobs_->number_.fetch_add(1, heist::detail::sync::relaxed);  // relaxed: as in any()
    }
    Share(Share&&) noexcept = default;
    Share& operator=(Share&& other) noexcept {
      std::swap(jobs_, other.jobs_);
      return *this;
    }
    ~Share() {
      if (jobs_) jobs_->number_.fetch_sub(1, heist::detail::sync::relaxed);  // relaxed: as in any()
    }

   private:
    std::shared_ptr<RunnableJobs> jobs_;  ///< null: moved from
  };

  [[nodiscard]] bool any() const noexcept {
    return number_.load(heist::detail::sync::relaxed) > 0;  // relaxed: whoever asks asks again
  }

 private:
  heist::detail::sync::atomic<std::size_t> number_{0};
};

}  // namespace heistd
