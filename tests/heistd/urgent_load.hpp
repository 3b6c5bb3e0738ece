// UrgentLoad: keeps all agents of a cluster busy, so that lower levels starve.
#pragma once

#include <atomic>
#include <heist/scheduler.hpp>
#include <thread>
#include <utility>

namespace heistd {

/// Tasks of the highest level that post themselves anew, more of them than there are agents.
class UrgentLoad {
 public:
  explicit UrgentLoad(heist::Scheduler scheduler) : scheduler_(std::move(scheduler)) {
    for (int task = 0; task < 8; ++task) post();
  }
  UrgentLoad(const UrgentLoad&) = delete;
  UrgentLoad& operator=(const UrgentLoad&) = delete;
  ~UrgentLoad() { end(); }
  /// Blocks: until there are none.
  void end() {
    ended_ = true;
    while (tasks_ > 0) std::this_thread::yield();
  }

 private:
  void post() {
    ++tasks_;
    if (!scheduler_.post([this] { run(); }, {.priority = heist::TaskPriority::user_blocking}))
      --tasks_;
  }
  void run() {
    if (!ended_) post();
    --tasks_;
  }

  heist::Scheduler scheduler_;
  std::atomic<bool> ended_{false};
  std::atomic<int> tasks_{0};
};

}  // namespace heistd
