// JobWait: a request that waits for its job, as the network's thread has it.
#pragma once

#include <functional>
#include <heistd/api.hpp>
#include <list>
#include <utility>

namespace heistd {

/// Has somebody told when the job has finished.   Thread: the network's.
class JobWait {
 public:
  /// `tell` is called once, if the job finishes while this lives.   Errors: std::bad_alloc.
  JobWait(Waiting waiting, std::function<void()> tell)
      : waiting_(std::move(waiting)),
        listener_(listeners().emplace(listeners().end(), std::move(tell))) {}
  ~JobWait() { end(); }
  JobWait(const JobWait&) = delete;
  JobWait& operator=(const JobWait&) = delete;

  /// Gives back the place among those that wait.
  void end() noexcept {
    if (!std::exchange(is_over_, true)) listeners().erase(listener_);
    waiting_.share = {};
  }
  [[nodiscard]] const Waiting& waiting() const noexcept { return waiting_; }

 private:
  using Listeners = std::list<std::function<void()>>;
  [[nodiscard]] Listeners& listeners() noexcept { return waiting_.job->on_finished; }

  Waiting waiting_;
  const Listeners::iterator listener_;
  bool is_over_ = false;
};

}  // namespace heistd
