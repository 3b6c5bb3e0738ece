// WaitingJobs: how many jobs wait for something besides an agent.
#pragma once

#include <cstddef>
#include <heist/detail/sync.hpp>
#include <memory>
#include <utility>

namespace heistd {

/// Counts the jobs that a drain has to wait for while no agent has anything to run: those for which
/// a program is at work, whose handlers wait for something, or whose start a journal is to count.
///
/// Thread: any.
class WaitingJobs {
 public:
  /// Counts a job while it lives.
  class Share {
   public:
    explicit Share(std::shared_ptr<WaitingJobs> jobs) noexcept : jobs_(std::move(jobs)) {
      jobs_->number_.fetch_add(1, heist::detail::sync::relaxed);  // relaxed: as in any()
    }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share() { jobs_->number_.fetch_sub(1, heist::detail::sync::relaxed); }

   private:
    const std::shared_ptr<WaitingJobs> jobs_;
  };

  [[nodiscard]] bool any() const noexcept {
    return number_.load(heist::detail::sync::relaxed) > 0;  // relaxed: whoever asks asks again
  }

 private:
  heist::detail::sync::atomic<std::size_t> number_{0};
};

}  // namespace heistd
