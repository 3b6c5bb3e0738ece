// What the models of the prototype share.
#pragma once

#include <cstddef>
#include <engine/model.hpp>
#include <span>

#include "../cluster.hpp"
#include "../spike_signal.hpp"

namespace heist::spike {

using model::check;
using model::join_all;
using model::spawn;

/// Time that passes only while the watcher sleeps.
class ModelClock {
 public:
  [[nodiscard]] Tick now() const noexcept { return now_.load(sync::seq_cst); }
  [[nodiscard]] static std::chrono::steady_clock::time_point deadline(Tick /*due*/) noexcept {
    return {};
  }
  void slept_until(Tick due) noexcept {
    Tick now = now_.load(sync::relaxed);
    while (now < due && !now_.compare_exchange_weak(now, due, sync::seq_cst, sync::relaxed)) {
    }
  }

 private:
  sync::atomic<Tick> now_{0};
};

/// Two agents, three levels, and so small that everything is full at once.
inline constexpr Sizes small{.agents = 2, .levels = 3, .bins = 2, .bin = 2, .ring = 2};
using Cluster = SpikeCluster<small, ModelClock>;

/// A task that counts its runs.
struct CountedTask : SignalledTask {
  CountedTask() noexcept {
    run = [](SpikeTask& task) { ++static_cast<CountedTask&>(task).runs; };
  }
  int runs = 0;
};

/// One that calls a function of somebody else.
template <class Context>
struct CallingTask : SpikeTask {
  CallingTask(Context& whose, void (Context::*what)()) noexcept : context(&whose), function(what) {
    run = [](SpikeTask& task) {
      auto& self = static_cast<CallingTask&>(task);
      (self.context->*self.function)();
    };
  }
  Context* context;
  void (Context::*function)();
};

/// Reads the newest value without ordering anything, so that the search tries what came before and after.
template <class T>
void touch(sync::atomic<T>& word) {
  T value = word.load(sync::relaxed);
  while (!word.compare_exchange_weak(value, value, sync::relaxed, sync::relaxed)) {
  }
}

/// A task of a high level, posted by another thread: no pick that begins afterwards may give a lower one while it
/// stays where it was posted (CLU-1).
class Urgent {
 public:
  Urgent(Cluster& cluster, Level level) noexcept : cluster_(cluster), level_(level) {}

  void post() {
    cluster_.post(task, level_);
    posted_.store(true, sync::release);
  }
  /// An agent, when its pick begins.
  [[nodiscard]] bool is_posted() const noexcept { return posted_.load(sync::acquire); }
  /// An agent, when it starts a task of `level`: not while this one, posted before its pick, still waits.
  void check_not_overtaken(Level level, bool was_posted) {
    if (!was_posted || level >= level_) return;
    cluster_.each_word(level_, [](auto& word) { touch(word); });
    const model::Unwatched scope;
    check(!cluster_.holds(level_, task) || task.transfers != 0, "no lower task starts before it");
  }

  CountedTask task;

 private:
  Cluster& cluster_;
  Level level_;
  sync::atomic<bool> posted_{false};
};

}  // namespace heist::spike
