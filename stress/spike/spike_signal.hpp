// SpikeSignal: what an abort does to the tasks of a signal, whatever queue they are in.
#pragma once

#include <heist/sync.hpp>

#include "spike_task.hpp"

namespace heist::spike {

/// A task with a signal.
struct SignalledTask : SpikeTask {
  SignalledTask* registered = nullptr;  ///< in its signal's list: the one before
};

// The library's registry (src/heist/concurrent/registry.hpp) without pruning: a task is registered before it is
// enqueued; an abort closes the list and claims each task by its phase. Queues take no part in it.
//
// Edge    spike_signal: register -> close. Carries the task.
// Proof   stress/spike/models/shared_queues.cpp.
class SpikeSignal {
 public:
  /// Before the task is posted. False: the signal is aborted, the task must not be posted.
  [[nodiscard]] bool add(SignalledTask& task) noexcept {
    SignalledTask* old = newest_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    do {
      if (old == closed_mark()) return false;
      task.registered = old;
    } while (!newest_.compare_exchange_weak(old, &task,
                                            sync::edge("spike_signal:register", sync::release),
                                            sync::relaxed));  // relaxed: a failure only retries.
    return true;
  }
  void abort() noexcept {
    SignalledTask* task =
        newest_.exchange(closed_mark(), sync::edge("spike_signal:close", sync::acq_rel));
    for (; task != nullptr && task != closed_mark(); task = task->registered) {
      static_cast<void>(task->leave_waiting(SpikeTask::Phase::aborted));
    }
  }

 private:
  static SignalledTask* closed_mark() noexcept {
    static SignalledTask mark;
    return &mark;
  }
  sync::atomic<SignalledTask*> newest_{nullptr};
};

}  // namespace heist::spike
