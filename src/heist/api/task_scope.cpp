#include <chrono>
#include <cstdio>
#include <exception>
#include <heist/detail/access.hpp>
#include <heist/scheduler.hpp>
#include <heist/task_scope.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "../concurrent/lasting_reason.hpp"
#include "../loop/drive_scope.hpp"
#include "../loop/loop_core.hpp"
#include "../os/fork_watch.hpp"
#include "../os/parker.hpp"
#include "../os/word_wait.hpp"
#include "../signal/post_abortable.hpp"
#include "../signal/signal_core.hpp"

namespace HEIST_NAMESPACE {

using namespace detail;

namespace {

void check_priority(const std::optional<TaskPriority>& priority, const char* what) {
  if (priority && *priority > TaskPriority::user_blocking) [[unlikely]]
    throw std::invalid_argument(std::string(what) + " is not a TaskPriority");
}

/// Why a scope aborts that was not joined. It is made before main, because destructors use it.
const Reason& unjoined_reason() noexcept {
  static const LastingReason reason{AbortError("the TaskScope was destroyed before it was joined")};
  return reason.get();
}
[[maybe_unused]] const Reason& made_before_main = unjoined_reason();

/// A signal that follows the controller and the one of the options.
AbortSignal combined(const AbortController& controller, const AbortSignal& outer) {
  const AbortSignal both[] = {controller.signal(), outer};
  const auto with_priority = outer.as_task_signal();
  if (with_priority) return TaskSignal::any(both, *with_priority);
  return AbortSignal::any(both);
}

Ref<SignalCore> core_of(const AbortSignal& signal) noexcept {
  return Ref<SignalCore>::share(&Access::core(signal));
}

Ref<ScopeCore> make_core(const Scheduler& scheduler, const TaskScopeOptions& options) {
  Access::check_valid(scheduler, "TaskScope: the scheduler");
  check_priority(options.priority, "TaskScopeOptions::priority");
  if (options.signal) Access::check_valid(*options.signal, "TaskScopeOptions::signal");
  const AbortController controller;
  const AbortSignal signal =
      options.signal ? combined(controller, *options.signal) : controller.signal();
  return Ref<ScopeCore>::adopt(
      make_node<ScopeCore>(Access::home(scheduler), *Access::core(scheduler),
                           core_of(controller.signal()), core_of(signal), options.priority));
}

[[noreturn]] void end_program(const char* why) noexcept {
  std::fprintf(stderr,
               "heist: a TaskScope is destroyed whose tasks could never end then (%s). In a "
               "coroutine, co_await scope.join() before anything else is awaited or thrown.\n",
               why);
  std::terminate();
}

}  // namespace

// The tasks.

void ScopedTask::follow(PromiseStateBase& returned, Reaction& reaction) noexcept {
  scope_.begin_wait();
  reaction.home = Ref<TaskHome>::share(&scheduler->home);
  returned.attach(reaction);
}

// The core.

ScopeCore::ScopeCore(Ref<TaskHome> home, SchedulerCore& scheduler, Ref<SignalCore> controller,
                     Ref<SignalCore> signal, std::optional<TaskPriority> priority) noexcept
    : PromiseState<void>(&destroy, 2),
      home_(std::move(home)),
      scheduler_(scheduler),
      controller_(std::move(controller)),
      signal_(std::move(signal)),
      priority_(priority) {
  set_home(home_.get());
}

void ScopeCore::destroy(PromiseStateBase& base) noexcept {
  destroy_node(static_cast<ScopeCore&>(base));
}

bool ScopeCore::aborted() const noexcept { return signal_->aborted(); }

void ScopeCore::begin_start(const std::optional<TaskPriority>& priority) {
  check_priority(priority, "StartOptions::priority");
  if (!open_.try_add()) [[unlikely]]
    throw InvalidStateError("TaskScope::start: the scope has ended, and nobody would wait");
}

bool ScopeCore::post(ScopedTask& task, const std::optional<TaskPriority>& priority, Delay delay) {
  const auto& fixed = priority ? priority : priority_;
  task.scheduler = &scheduler_;
  task.is_dynamic = !fixed && signal_->has_dynamic_priority();
  task.priority = scheduler_.capped(fixed ? *fixed : signal_->fixed_priority());
  home_->set_delay(task, delay);
  try {
    reserve_abortable(task, signal_.get());
  } catch (...) {
    static_cast<void>(task.try_drop());
    dispose(task);
    throw;
  }
  // The scope may end, and go, as soon as the task is posted.
  return post_reserved(task, signal_);
}

void ScopeCore::fail(const Reason& reason) noexcept {
  if (!aborted()) controller_->abort(reason ? reason : no_reason_given());
}

void ScopeCore::end_one() noexcept {
  if (open_.drop()) settle_by_signal();
}

void ScopeCore::settle_by_signal() noexcept {
  if (Reason reason = signal_->reason()) {
    // A reason that came from outside is known there, and need not be reported.
    const bool by_abort = reason != controller_->reason();
    settle_rejected(std::move(reason), by_abort);
  } else {
    emplace();
    settle_fulfilled();
  }
  release(*this);
}

void ScopeCore::join() {
  aborted() ? wait_aborted() : wait();
  mark_handled();
  if (status() == PromiseStatus::rejected) reason().rethrow();
}

/// Whether what runs on this thread has the scope's own signal, as its tasks have.
bool ScopeCore::is_running_here() const noexcept {
  LoopCore* const loop = loop_of_this_thread;
  if (loop == nullptr) return false;
  loop->assert_agent();
  return loop->on_agent().current.abort_source == signal_.get();
}

void ScopeCore::end_unjoined(bool counted) noexcept {
  if (is_running_here()) end_program("a task of the scope would wait for itself");
  if (!counted || !open_.is_last()) fail(unjoined_reason());
  if (counted) end_one();
  if (is_settled() || ForkWatch::has_lost(home_.get())) return;
  try {
    wait_aborted();
  } catch (const std::exception& error) {
    end_program(error.what());
  }
}

/// Waits for the end of a scope that is aborted.   Errors: NotAllowedError when only coroutines are
/// left, and nobody could go on with them.
void ScopeCore::wait_aborted() {
  constexpr int most_looks = 16;
  for (int looks = 0; !is_settled();) {
    clear_aborted_here();
    try {
      return wait();
    } catch (const NotAllowedError&) {
      // Another thread may be in the midst of the abort. What it has not claimed yet, or not told
      // this agent of, is not cleared away by then.
      looks = has_only_coroutines() ? looks + 1 : 0;
      if (looks == most_looks) throw;
    }
    await_other_threads();
  }
}

/// Whether all that is left has suspended. It may be wrong while other threads end tasks.
bool ScopeCore::has_only_coroutines() const noexcept {
  return !open_.is_more_than(suspended_.load(sync::relaxed));  // relaxed: who asks asks again.
}

void ScopeCore::await_other_threads() noexcept {
  constexpr std::chrono::milliseconds moment{1};
  // relaxed: any value does, as the wait has a limit.
  wait_on_word(suspended_, suspended_.load(sync::relaxed), Parker::Clock::now() + moment);
}

/// If the calling thread is an agent of the scope's home, disposes of its aborted tasks that wait
/// there. Otherwise they would wait for this thread, which is about to wait for them.
void ScopeCore::clear_aborted_here() noexcept {
  LoopCore* const loop = find_driven([this](const LoopCore& driven) {
    return &driven == home_.get() || driven.is_member_of(*home_);
  });
  if (loop == nullptr) return;
  LoopCore* const innermost = std::exchange(loop_of_this_thread, loop);
  loop->assert_agent();
  loop->clear_aborted();
  loop_of_this_thread = innermost;
}

// What users see.

TaskScope::TaskScope(const Scheduler& scheduler, const TaskScopeOptions& options)
    : core_(make_core(scheduler, options)) {}

TaskScope::~TaskScope() {
  if (!core_->is_settled()) core_->end_unjoined(counts_owner_);
}

ScopeJoin TaskScope::join() {
  if (core_->is_running_here()) [[unlikely]] {
    throw NotAllowedError(
        "TaskScope::join: a task of the scope, or one that has its signal, would wait for itself");
  }
  if (std::exchange(counts_owner_, false)) core_->end_one();
  return Access::make<ScopeJoin>(core_);
}

void TaskScope::abort() { core_->controller().abort(Reason::of_abort()); }

void TaskScope::abort(const Reason& reason) {
  if (!reason) return abort();
  core_->controller().abort(reason);
}

AbortSignal TaskScope::signal() const noexcept {
  return Access::make<AbortSignal>(Ref<SignalCore>::share(&core_->signal()));
}

ScopeJoin::ScopeJoin(Ref<ScopeCore> core) noexcept
    : core_(std::move(core)), exceptions_(std::uncaught_exceptions()) {}

ScopeJoin::~ScopeJoin() noexcept(false) {
  if (!is_awaited_ && std::uncaught_exceptions() == exceptions_) core_->join();
}

PromiseAwaiter<void> ScopeJoin::operator co_await() noexcept {
  is_awaited_ = true;
  return {Access::make<Promise<void>>(Ref<PromiseState<void>>::share(core_.get())), false};
}

}  // namespace HEIST_NAMESPACE
