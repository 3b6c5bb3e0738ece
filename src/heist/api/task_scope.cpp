#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <heist/detail/access.hpp>
#include <heist/detail/frame_destruction.hpp>
#include <heist/detail/report_error.hpp>
#include <heist/detail/within_scope.hpp>
#include <heist/scheduler.hpp>
#include <heist/task_scope.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "../concurrent/lasting_reason.hpp"
#include "../loop/drain_watch.hpp"
#include "../loop/drive_scope.hpp"
#include "../loop/loop_core.hpp"
#include "../os/fork_watch.hpp"
#include "../os/parker.hpp"
#include "../os/word_wait.hpp"
#include "../signal/post_abortable.hpp"
#include "../signal/signal_core.hpp"
#include "../task/check_priority.hpp"

namespace HEIST_NAMESPACE {

using namespace detail;

namespace {

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
  std::fprintf(stderr, "heist: a TaskScope is destroyed whose tasks could never end then: %s\n",
               why);
  std::terminate();
}

constexpr const char* within_own_task =
    "one of them destroys it, and would wait for itself. Keep a scope where it outlives its tasks, "
    "and let none of them own it.";
constexpr const char* only_coroutines =
    "only agents that wait could go on with its coroutines. In a coroutine, co_await scope.join() "
    "before anything else is awaited or thrown.";

#if defined(HEIST_MODEL)
constexpr bool knows_time = false;  // models know no real time
#else
constexpr bool knows_time = true;
#endif

/// A wait for the end of a scope that may last long.
class LongWait {
 public:
  using Clock = Parker::Clock;

  /// How long to wait before the next look. It grows, so that a long wait costs little.
  [[nodiscard]] std::chrono::nanoseconds pause() noexcept {
    has_paused_ = true;
    return std::exchange(pause_, std::min(2 * pause_, longest_pause));
  }
  [[nodiscard]] bool has_paused() const noexcept { return has_paused_; }
  /// Tells the error hook, once, why the wait may last, when it has lasted for long.
  void look(const char* why) noexcept {
    if (has_told_ || Clock::now() < tell_at_) return;
    has_told_ = true;
    try {
      const auto text =
          std::string("a TaskScope has waited for long for tasks that were aborted: ") + why;
      report_error(ErrorOrigin::wait, Reason{TimeoutError(text.c_str())});
    } catch (...) {  // NOLINT(bugprone-empty-catch): no memory for the words
    }
  }

 private:
  static constexpr std::chrono::nanoseconds longest_pause = std::chrono::seconds(1);

  std::chrono::nanoseconds pause_ = std::chrono::milliseconds(1);
  Clock::time_point tell_at_ = Clock::now() + patience_for_waits();
  bool has_paused_ = false;
  bool has_told_ = false;
};

}  // namespace

// The tasks.

void ScopedTask::follow(PromiseStateBase& returned, Reaction& reaction) noexcept {
  scope_.begin_wait();
  reaction.home = Ref<TaskHome>::share(&scheduler->home);
  reaction.follows_settler = reaction.ends_at_once = true;
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
  if (aborted()) return;
  const Reason& error = reason ? reason : no_reason_given();
  controller_->abort(error);
  // relaxed: whoever reads it has dropped the last count, after this thread has dropped one.
  if (controller_->reason() == error) has_failed_.store(true, sync::relaxed);
}

void ScopeCore::end_one() noexcept {
  if (open_.drop()) settle_by_signal();
}

void ScopeCore::settle_by_signal() noexcept {
  if (Reason reason = signal_->reason()) {
    // A reason that came from outside, or that abort() was given, is known there, and need not be
    // reported.
    // relaxed: RefCount orders it.
    const bool is_error = has_failed_.load(sync::relaxed) && reason == controller_->reason();
    settle_rejected(std::move(reason), !is_error);
  } else {
    emplace();
    settle_fulfilled();
  }
  release(*this);
}

void ScopeCore::check_may_join() const {
  if (WithinScope::is_here(*signal_)) [[unlikely]]
    throw NotAllowedError("TaskScope::join: a task of the scope would wait for itself");
}

void ScopeCore::uncount_owner() noexcept {
  if (std::exchange(counts_owner_, false)) end_one();
}

/// The tasks may have ended meanwhile. Then the scope has ended, and nobody need be counted.
void ScopeCore::count_owner_again() noexcept { counts_owner_ = open_.try_add(); }

void ScopeCore::join() {
  check_may_join();
  uncount_owner();
  try {
    aborted() ? wait_aborted() : wait();
  } catch (const NotAllowedError&) {
    count_owner_again();
    throw;
  }
  mark_handled();
  if (status() == PromiseStatus::rejected) reason().rethrow();
}

void ScopeCore::begin_await() {
  check_may_join();
  uncount_owner();
  if (current_loop() != nullptr || is_settled()) return;
  count_owner_again();
  throw NotAllowedError(
      "TaskScope::join: no event loop runs on this thread, so a coroutine cannot wait here");
}

void ScopeCore::end_unjoined() noexcept {
  if (WithinScope::is_here(*signal_)) end_program(within_own_task);
  if (!counts_owner_ || !open_.is_last()) {
    if (!aborted()) controller_->abort(unjoined_reason());
  }
  uncount_owner();
  if (is_settled() || ForkWatch::has_lost(home_.get())) return;
  try {
    return wait_aborted();
  } catch (const std::exception&) {  // the program ends outside, or it would tell of this exception
  }
  end_program(only_coroutines);
}

/// Waits for the end of a scope that is aborted.   Errors: NotAllowedError when only coroutines are
/// left, and nobody could go on with them; in a child of fork, when the agent is in the parent.
void ScopeCore::wait_aborted() {
  constexpr int most_looks = 16;
  LongWait lasts;
  for (int looks = 0; !is_settled();) {
    clear_aborted_here(lasts.has_paused());
    clear_undriven();
    try {
      if (!may_have_to_clear_again()) return wait();
      if (wait_a_while(lasts.pause())) return;
      if (is_undriven()) lasts.look("nobody drives the event loop that has them");
      continue;
    } catch (const NotAllowedError&) {
      if (ForkWatch::has_lost(home_.get())) throw;
    }
    // Another thread may be in the midst of the abort. What it has not claimed yet, or not told
    // this agent of, is not cleared away by then.
    looks = has_only_coroutines() ? looks + 1 : 0;
    if (looks == most_looks) break;
    lasts.look("only this agent could end them, and it waits here");
    await_other_threads();
  }
  if (!is_settled()) wait();
}

/// Whether this thread may have to clear away what comes later: on a loop that has its drivers only
/// now and then, or on its own loop, as the agent that it waits for may wait for it.
bool ScopeCore::may_have_to_clear_again() const noexcept {
  return knows_time && (loop_of_this_thread != nullptr || home_->as_loop() != nullptr);
}

bool ScopeCore::is_undriven() const noexcept {
  const LoopCore* const loop = home_->as_loop();
  return loop != nullptr && !loop->is_driven();
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

/// Disposes of aborted tasks that wait for the calling thread: if it is an agent of the scope's
/// home, of those there, because it is about to wait for them. If the wait lasts, also of those on
/// its other loops: an agent that it waits for may wait for them.
void ScopeCore::clear_aborted_here(bool everywhere) noexcept {
  const auto is_due = [&](const LoopCore& driven) {
    return everywhere || &driven == home_.get() || driven.is_member_of(*home_);
  };
  LoopCore* loop = loop_of_this_thread;
  for (; loop != nullptr && !is_settled(); loop = loop->outer_loop()) {
    if (is_due(*loop)) clear_aborted_of(*loop);
  }
}

void ScopeCore::clear_aborted_of(LoopCore& loop) noexcept {
  // The destructors run within no scheduling state, but this thread is still within what has it.
  const SchedulingState& state = loop.state_here();
  const WithinScope within(state.is_of_scope ? state.abort_source : nullptr);
  LoopCore* const innermost = std::exchange(loop_of_this_thread, &loop);
  loop.assert_agent();
  loop.clear_aborted(*this);
  loop_of_this_thread = innermost;
}

/// If nobody drives the scope's loop, disposes of its aborted tasks as its agent. Perhaps it is
/// this thread that would drive it otherwise, and cannot, as it waits here.
void ScopeCore::clear_undriven() noexcept {
  if (!is_undriven()) return;
  LoopCore& loop = *home_->as_loop();
  const DriveByTheWay driving(loop);
  if (!driving.drives()) return;
  loop.assert_agent();
  loop.clear_aborted(*this);
}

// What users see.

TaskScope::TaskScope(const Scheduler& scheduler, const TaskScopeOptions& options)
    : core_(make_core(scheduler, options)) {}

TaskScope::~TaskScope() {
  if (!core_->is_settled()) core_->end_unjoined();
}

ScopeJoin TaskScope::join() { return Access::make<ScopeJoin>(core_); }

void TaskScope::abort() { core_->controller().abort(Reason::of_abort()); }

void TaskScope::abort(const Reason& reason) {
  if (!reason) return abort();
  core_->controller().abort(reason);
}

AbortSignal TaskScope::signal() const noexcept {
  return Access::make<AbortSignal>(Ref<SignalCore>::share(&core_->signal()));
}

ScopeJoin::ScopeJoin(Ref<ScopeCore> core) noexcept
    : core_(std::move(core)),
      exceptions_(std::uncaught_exceptions()),
      frames_(FrameDestruction::count_here()) {}

ScopeJoin::~ScopeJoin() noexcept(false) {
  const bool is_left =
      std::uncaught_exceptions() != exceptions_ || FrameDestruction::count_here() != frames_;
  if (!is_awaited_ && !is_left) core_->join();
}

PromiseAwaiter<void> ScopeJoin::operator co_await() && {
  is_awaited_ = true;
  core_->begin_await();
  return {Access::make<Promise<void>>(Ref<PromiseState<void>>::share(core_.get())), false};
}

}  // namespace HEIST_NAMESPACE
