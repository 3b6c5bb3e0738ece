// This file has the host's side of a cooperative scheduler. Its hot path is work().
#include <heist/error.hpp>
#include <utility>

#include "cooperative_core.hpp"
#include "loop_host.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

thread_local constinit CooperativeCore* running_core = nullptr;

/// The rest of a suspended coroutine, as a callback.
class CoroutineRest {
 public:
  explicit CoroutineRest(SuspendedCoroutine coroutine) noexcept : coroutine_(coroutine) {}
  CoroutineRest(CoroutineRest&& other) noexcept
      : coroutine_(std::exchange(other.coroutine_, std::nullopt)) {}
  CoroutineRest& operator=(CoroutineRest&&) = delete;
  ~CoroutineRest() {
    if (coroutine_) coroutine_->destroy({}, task_cancelled_reason());
  }
  void operator()() { std::exchange(coroutine_, std::nullopt)->resume(); }

 private:
  std::optional<SuspendedCoroutine> coroutine_;
};

}  // namespace

CooperativeCore* CooperativeCore::running() noexcept { return running_core; }

/// The scope in which a callback of this core runs.
class CooperativeCore::Running {
 public:
  explicit Running(CooperativeCore& core) noexcept
      : core_(core), outer_(std::exchange(running_core, &core)) {}
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  /// Ends a coroutine that nobody resumes, because an exception was thrown or because something
  /// else was returned.
  ~Running() {
    running_core = outer_;
    if (const auto left = std::exchange(core_.coroutine_, std::nullopt)) {
      left->destroy({}, task_cancelled_reason());
    }
  }

 private:
  CooperativeCore& core_;
  CooperativeCore* outer_;
};

/// The scope in which work is done. It clears what is over with the work, also when an exception
/// passes.
class CooperativeCore::Performance {
 public:
  explicit Performance(CooperativeCore& core) noexcept : core_(core), before_(core.level_) {
    core.performing_ = true;
  }
  Performance(const Performance&) = delete;
  Performance& operator=(const Performance&) = delete;
  ~Performance() {
    core_.level_ = before_;
    core_.performing_ = false;
    core_.loop_running_ = has_more && !core_.closed_;
    if (core_.loop_running_) core_.post_next_message();
    if (core_.closed_) core_.drop_all();
  }

  bool has_more = true;

 private:
  CooperativeCore& core_;
  CooperativePriority before_;
};

// Coming in.

/// What this destroys may hold the last handle. The returned share keeps the core alive meanwhile.
Ref<CooperativeCore> CooperativeCore::take_messages() noexcept {
  if (own_ == nullptr) return {};
  LoopCore& loop = own_->loop();
  loop.assert_agent();
  if (!loop.has_messages()) return {};
  auto kept = Ref<CooperativeCore>::share(this);
  while (!loop.arrivals().drain_until_limit()) loop.run_ended_limits();
  return kept;
}

/// Late tasks keep a slice going for as long as they come, so signals' time limits must not wait
/// for the end of the slice.
void CooperativeCore::end_limits() noexcept {
  if (own_ == nullptr) return;
  own_->loop().assert_agent();
  own_->loop().run_ended_limits();
}

void CooperativeCore::insert(CooperativeTaskNode& task, Milliseconds now) noexcept {
  task.key = ++last_id_;
  if (task.is_delayed) return insert_delayed(task, now);
  ready_.push(task);
  request_callback();
}

void CooperativeCore::insert_delayed(CooperativeTaskNode& task, Milliseconds now) noexcept {
  delayed_.insert(task);
  task.is_waiting = true;
  if (!ready_.empty() || delayed_.top() != &task) return;
  if (timeout_set_) host_.clear_timeout();
  timeout_set_ = true;
  host_.set_timeout(task.start - now);
}

void CooperativeCore::request_callback() noexcept {
  if (callback_wanted_ || performing_) return;
  callback_wanted_ = true;
  request_message();
}

void CooperativeCore::request_message() noexcept {
  if (!std::exchange(loop_running_, true)) host_.post_message();
}

/// Posts the message for the next slice. What was posted to the loop in this slice comes before it.
void CooperativeCore::post_next_message() noexcept {
  if (own_ != nullptr) {
    own_->loop().assert_agent();
    own_->loop().take_inbox();
  }
  host_.post_message();
}

/// Sets the timeout for the first of the delayed tasks.
void CooperativeCore::request_timeout(Milliseconds now) noexcept {
  if (const CooperativeTaskNode* first = delayed_.top()) host_.set_timeout(first->start - now);
}

// Working.

void CooperativeCore::expire_timeout() noexcept {
  timeout_set_ = false;
  const Milliseconds now = host_.now();
  promote(now);
  if (callback_wanted_) return;
  ready_.empty() ? request_timeout(now) : request_callback();
}

void CooperativeCore::perform_work() {
  if (performing_) {
    throw NotAllowedError("perform_work: a callback of this scheduler must not call it");
  }
  clock_.forget_early_end();
  if (!loop_running_) return;
  const Milliseconds now = clock_.begin();
  callback_wanted_ = false;
  if (std::exchange(timeout_set_, false)) host_.clear_timeout();
  Performance performance(*this);
  performance.has_more = work(now);
}

/// Works until the slice is over. Returns whether there is more to do.
bool CooperativeCore::work(Milliseconds now) {
  for (;;) {
    end_limits();
    take_messages();
    drop_cancelled();
    promote(now);
    if (closed_) return false;
    CooperativeTaskNode* task = ready_.top();
    if (task == nullptr) {
      if (cancelled_ == nullptr) break;
      continue;  // a destructor has taken messages
    }
    if (task->expiration > now && clock_.is_over_at(now)) return true;
    if (!task->is_alive()) {
      drop(ready_.pop());
      continue;
    }
    CooperativeCallback rest = call(*task, now);
    now = host_.now();
    if (rest && !task->is_cancelled_elsewhere()) {
      task->callback = std::move(rest);
      promote(now);
      return true;
    }
    if (ready_.top() == task) release(ready_.pop());
  }
  request_timeout(now);
  return false;
}

void CooperativeCore::take_delayed(CooperativeTaskNode& task) noexcept {
  delayed_.erase(task);
  task.is_waiting = false;
}

/// Removes a cancelled task that is not the first delayed one. Nobody will ask for it, so it goes
/// at once.
void CooperativeCore::forget_delayed(CooperativeTaskNode& task) noexcept {
  if (!task.is_waiting || delayed_.top() == &task) return;
  take_delayed(task);
  release(task);
}

/// Takes out of delayed_ the tasks whose delay is over, and dead ones that come first.
void CooperativeCore::promote(Milliseconds now) noexcept {
  while (CooperativeTaskNode* first = delayed_.top()) {
    const bool is_dead = !first->is_alive();
    if (!is_dead && first->start > now) return;
    take_delayed(*first);
    is_dead ? drop(*first) : ready_.push(*first);
  }
}

/// Marks what runs as this task. Otherwise a coroutine of another task that this one resumes would
/// be taken for a part of it.
void CooperativeCore::enter(CooperativeTaskNode& task) noexcept {
  number_ = 0;
  driven_ = loop_of_this_thread;
  if (own_ == nullptr) return;
  own_->loop().assert_agent();
  if (task.number == 0) task.number = own_->new_number();
  number_ = task.number;
  own_->enter(number_);
}

bool CooperativeCore::is_running_here() const noexcept {
  return loop_of_this_thread == driven_ && (own_ == nullptr || own_->is_in(number_));
}

/// Calls the task. Returns what is left of it, if anything.
CooperativeCallback CooperativeCore::call(CooperativeTaskNode& task, Milliseconds now) {
  const CallbackTaken callback(task.callback);
  level_ = task.priority;
  slice_ = {.did_timeout = task.expiration <= now, .deadline = clock_.deadline()};
  const Running running(*this);
  enter(task);
  CooperativeCallback returned = callback(slice_);
  if (own_ != nullptr) {
    own_->loop().assert_agent();
    own_->loop().microtask_checkpoint();
  }
  if (returned || !coroutine_) return returned;
  return CoroutineRest(*std::exchange(coroutine_, std::nullopt));
}

// Ending.

void CooperativeCore::drop_callback(CooperativeTaskNode& task) noexcept {
  const CooperativeCallback dropped = std::move(task.callback);  // its destructor may schedule
}

void CooperativeCore::drop(CooperativeTaskNode& task) noexcept {
  drop_callback(task);
  release(task);
}

/// Drops the tasks that other threads have cancelled.
void CooperativeCore::drop_cancelled() noexcept {
  while (cancelled_ != nullptr) {
    LoopNode& first = *std::exchange(cancelled_, cancelled_->next);
    auto& task = static_cast<CooperativeTaskNode::Cancellation&>(first).task;
    forget_delayed(task);
    drop(task);
  }
}

void CooperativeCore::drop_all() noexcept {
  while (!ready_.empty()) drop(ready_.pop());
  while (CooperativeTaskNode* first = delayed_.top()) {
    take_delayed(*first);
    drop(*first);
  }
  drop_cancelled();
}

void CooperativeCore::close() noexcept {
  closed_ = true;
  if (own_ != nullptr) own_->clear_timeout();  // also a timeout that is not counted on
  if (!performing_) drop_all();
}

// What a coroutine asks.

namespace cooperative {

bool must_give_way() {
  CooperativeCore* core = CooperativeCore::running();
  if (core == nullptr || !core->is_running_here()) {
    throw NotAllowedError("slice: outside of any task of a cooperative scheduler, or of its own");
  }
  if (core->has_given_way()) {
    throw NotAllowedError("slice: another coroutine of this task waits for its next slice already");
  }
  return !core->slice().did_timeout && core->clock().is_over();
}

void check_coroutine() {
  const CooperativeCore* core = CooperativeCore::running();
  if (core != nullptr && core->has_own_host()) return;
  throw NotAllowedError("a cooperative task is a coroutine on event loops only");
}

void give_way(SuspendedCoroutine coroutine) noexcept {
  CooperativeCore::running()->give_way(coroutine);
}

Slice current_slice() noexcept { return CooperativeCore::running()->slice(); }

}  // namespace cooperative

}  // namespace HEIST_NAMESPACE::detail
