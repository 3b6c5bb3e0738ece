#include "support/reference/cooperative/scheduler.hpp"

#include <cmath>
#include <tuple>

namespace heist::reference::cooperative {

namespace {

double timeout_of(int priority) {
  if (priority == 1) return -1;
  if (priority == 2) return 250;
  if (priority == 4) return 10000;
  if (priority == 5) return 1073741823;
  return 5000;
}

template <class Key>
TaskPointer least(const Tasks& tasks, Key key) {
  TaskPointer found;
  for (const TaskPointer& task : tasks) {
    if (!found || key(*task) < key(*found)) found = task;
  }
  return found;
}

}  // namespace

TaskPointer Scheduler::first_ready() const {
  return least(ready_, [](const Task& task) { return std::tuple(task.expiration, task.id); });
}

TaskPointer Scheduler::first_delayed() const {
  return least(delayed_, [](const Task& task) { return std::tuple(task.start, task.id); });
}

TaskPointer Scheduler::schedule(int priority, Callback callback, double delay_ms) {
  const double now = host_.clock;
  const double start = delay_ms > 0 ? now + delay_ms : now;
  auto task = std::make_shared<Task>(
      Task{++last_id_, priority, start, start + timeout_of(priority), std::move(callback)});
  start > now ? delay(task) : make_ready(task);
  return task;
}

void Scheduler::delay(const TaskPointer& task) {
  delayed_.push_back(task);
  if (!ready_.empty() || first_delayed() != task) return;
  if (timeout_set_) {
    host_.clear_timeout();
  } else {
    timeout_set_ = true;
  }
  host_.set_timeout(task->start - host_.clock);
}

void Scheduler::make_ready(const TaskPointer& task) {
  ready_.push_back(task);
  if (!callback_wanted_ && !performing_) want_callback();
}

void Scheduler::want_callback() {
  callback_wanted_ = true;
  if (loop_running_) return;
  loop_running_ = true;
  host_.post();
}

void Scheduler::promote(double time) {
  while (const TaskPointer top = first_delayed()) {
    if (top->callback.call && top->start > time) return;
    std::erase(delayed_, top);
    if (top->callback.call) ready_.push_back(top);
  }
}

void Scheduler::on_timeout() {
  timeout_set_ = false;
  promote(host_.clock);
  if (callback_wanted_) return;
  if (!ready_.empty()) {
    want_callback();
  } else if (!delayed_.empty()) {
    host_.set_timeout(first_delayed()->start - host_.clock);
  }
}

void Scheduler::on_message() {
  paint_wanted_ = false;
  if (!loop_running_) return;
  const double time = host_.clock;
  slice_start_ = time;
  callback_wanted_ = false;
  if (timeout_set_) {
    timeout_set_ = false;
    host_.clear_timeout();
  }
  const int level = level_;
  performing_ = true;
  const auto end = [&](bool has_more) {
    level_ = level;
    performing_ = false;
    if (has_more) {
      host_.post();
    } else {
      loop_running_ = false;
    }
  };
  try {
    end(work(time));
  } catch (...) {
    end(true);
    throw;
  }
}

bool Scheduler::work(double time) {
  promote(time);
  while (const TaskPointer top = first_ready()) {
    if (top->expiration > time && should_yield()) return true;
    if (!top->callback.call) {
      std::erase(ready_, top);
      continue;
    }
    const Callback callback = std::exchange(top->callback, {});
    level_ = top->priority;
    Callback rest = callback.call(top->expiration <= time);
    time = host_.clock;
    if (rest.call) {
      top->callback = std::move(rest);
      promote(time);
      return true;
    }
    if (top == first_ready()) std::erase(ready_, top);
    promote(time);
  }
  if (!delayed_.empty()) host_.set_timeout(first_delayed()->start - time);
  return false;
}

bool Scheduler::should_yield() const {
  return paint_wanted_ || host_.clock - slice_start_ >= interval_;
}

bool Scheduler::force_frame_rate(double fps) {
  if (fps < 0 || fps > 125) return false;
  interval_ = fps == 0 ? 5 : std::floor(1000 / fps);
  return true;
}

Callback Scheduler::run_at_level(int level, const std::function<Callback()>& body) {
  const int before = std::exchange(level_, level);
  try {
    Callback value = body();
    level_ = before;
    return value;
  } catch (...) {
    level_ = before;
    throw;
  }
}

Callback Scheduler::run_with_priority(int priority, const std::function<Callback()>& body) {
  return run_at_level(priority >= 1 && priority <= 5 ? priority : 3, body);
}

Callback Scheduler::next(const std::function<Callback()>& body) {
  return run_at_level(level_ >= 1 && level_ <= 3 ? 3 : level_, body);
}

}  // namespace heist::reference::cooperative
