// Scheduler: the scheduler of the cooperative reference model
// (tests/conformance/cooperative/FORMAT.md 7). It is as plain as can be, and slow.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "support/reference/cooperative/host.hpp"

namespace heist::reference::cooperative {

/// What a task calls, or nothing when `call` is empty. It returns what is to be called next.
struct Callback {
  std::function<Callback(bool did_timeout)> call;
};

struct Task {
  int id;
  int priority;
  double start;
  double expiration;
  Callback callback;
};
using TaskPointer = std::shared_ptr<Task>;
/// The tasks are in no order: the first one is searched for.
using Tasks = std::vector<TaskPointer>;

class Scheduler {
 public:
  explicit Scheduler(Host& host) : host_(host) {}

  TaskPointer schedule(int priority, Callback callback, double delay);
  static void cancel(Task& task) { task.callback = {}; }
  [[nodiscard]] bool should_yield() const;
  void request_paint() { paint_wanted_ = true; }
  /// Returns false when it refuses the rate.
  bool force_frame_rate(double fps);

  [[nodiscard]] int level() const { return level_; }
  Callback run_at_level(int level, const std::function<Callback()>& body);
  Callback run_with_priority(int priority, const std::function<Callback()>& body);
  Callback next(const std::function<Callback()>& body);

  // The host calls these.
  void on_timeout();
  void on_message();

 private:
  [[nodiscard]] TaskPointer first_ready() const;
  [[nodiscard]] TaskPointer first_delayed() const;
  void delay(const TaskPointer& task);
  void make_ready(const TaskPointer& task);
  void want_callback();
  void promote(double time);
  /// Runs tasks until the slice ends. Returns whether there is more work.
  bool work(double time);

  Host& host_;
  Tasks ready_;
  Tasks delayed_;
  int last_id_ = 0;
  int level_ = 3;
  bool performing_ = false;
  bool callback_wanted_ = false;
  bool timeout_set_ = false;
  bool loop_running_ = false;
  bool paint_wanted_ = false;
  double interval_ = 5;
  double slice_start_ = -1;
};

}  // namespace heist::reference::cooperative
