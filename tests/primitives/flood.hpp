// Flood: tasks that keep a cluster busy, so that what is less urgent does not run.
#pragma once

#include <atomic>
#include <heist/scheduler.hpp>
#include <optional>

namespace heist::support {

/// What keeps a cluster busy: each of these tasks posts the next one, until somebody stops that.
struct Flood {
  void start(const Scheduler& on, unsigned tasks) {
    scheduler = on;
    for (unsigned i = 0; i < tasks; ++i) post_one();
  }
  void post_one() {
    if (is_stopped.load() || left.fetch_sub(1) <= 0) return;
    scheduler->post([this] { post_one(); });
  }

  std::optional<Scheduler> scheduler;
  std::atomic<bool> is_stopped{false};
  std::atomic<int> left{2'000'000};
};

}  // namespace heist::support
