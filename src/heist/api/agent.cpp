#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <heist/agent.hpp>
#include <heist/detail/access.hpp>
#include <heist/detail/report_error.hpp>
#include <heist/error.hpp>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "../cluster/cluster_core.hpp"
#include "../cluster/member.hpp"
#include "../loop/close_calls.hpp"
#include "../loop/drive_scope.hpp"
#include "../loop/loop_core.hpp"
#include "../os/fork_watch.hpp"
#include "../os/thread.hpp"

namespace HEIST_NAMESPACE {

using namespace detail;

namespace {

using Clock = std::chrono::steady_clock;

thread_local constinit Agent* agent_of_this_thread = nullptr;

/// Makes the loop sleep in a host for a scope, if there is one.
class HostScope {
 public:
  HostScope(LoopCore& loop, AgentHost* host) HEIST_ON_AGENT : loop_(loop), host_(host) {
    if (host_ != nullptr) loop_.begin_host(*host_);
  }
  HostScope(const HostScope&) = delete;
  HostScope& operator=(const HostScope&) = delete;
  ~HostScope() {
    loop_.assert_agent();
    if (host_ != nullptr) loop_.end_host(*host_);
  }

 private:
  LoopCore& loop_;
  AgentHost* const host_;
};

}  // namespace

/// How long a close waits, after its deadline, for an agent that is between two tasks. The agent
/// drops the rest in that time, or begins one more task.
constexpr std::chrono::milliseconds between_tasks{10};

/// The agent's thread, and how it is closed. The mutex orders closers, and the starts and ends of a
/// reserve's thread. Nobody runs users' code, or waits, while holding it. Tasks never meet it.
///
/// A reserve's thread  has three states: none; runs; ends (it has retired, and calls on_stop). A
/// caller that wants something while the thread ends leaves that to the thread: `is_wanted` makes
/// it go on as if it had been started anew, `close_requested` makes it close the loop.
struct Agent::Impl : LoopNode {
  /// A thread uses this to tell its maker whether it has started. (A std::promise that is never
  /// kept needs memory, and there may be none.)
  class Start {
   public:
    /// `failure` is the reason why the thread has not started; null when it has.
    void tell(std::exception_ptr failure = nullptr) noexcept {
      const std::lock_guard lock(mutex_);
      failure_ = std::move(failure);
      is_told_ = true;
      told_.notify_one();
    }
    /// Blocks until tell() was called.   Errors: what the thread threw.
    void hear() {
      std::unique_lock lock(mutex_);
      told_.wait(lock, [this] { return is_told_; });
      if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

   private:
    std::mutex mutex_;
    std::condition_variable told_;
    bool is_told_ = false;        ///< guarded by mutex_
    std::exception_ptr failure_;  ///< guarded by mutex_
  };

  Impl(Agent& owner, AgentOptions agent_options)
      : LoopNode(close_table), options(std::move(agent_options)), loop(options.loop), self(owner) {}

  void run();
  void drive();
  void run_as_reserve();
  void serve();
  bool goes_on();
  void wake_reserve() noexcept;
  bool try_retire();
  void leave();
  void close_without_thread();
  CloseReport close(const CloseMode& mode);
  void request_close(const CloseMode& mode);
  bool begin_close(std::uint64_t ended);
  void await_close(const CloseCall& call);
  void leave_behind(const CloseCall& call);
  void check_closer() const;

  static Impl& of(LoopNode& node) noexcept { return static_cast<Impl&>(node); }
  static void take_close(LoopNode& node, TaskHome& /*home*/) noexcept {
    Impl& self = of(node);
    self.close_taken = true;
    Access::core(self.loop).stop_request().heed();
  }
  static void ignore(LoopNode& /*node*/) noexcept {}
  void end_if_lost() const noexcept;
  static constexpr MessageOps close_table{&ignore, &take_close};

  AgentOptions options;
  EventLoop loop;
  Agent& self;
  bool is_member = true;     ///< whether the agent is in a cluster, which closes it
  bool is_reserve = false;   ///< whether it is a reserve of that cluster
  bool close_taken = false;  ///< agent only
  Start start;
  CloseCalls calls;
  std::mutex closing;
  bool close_requested = false;  ///< guarded by closing; so is all that follows
  std::uint64_t ended_before_close = 0;
  bool has_thread = false;  ///< for a reserve: whether its thread has not come to its end
  bool is_ending = false;   ///< for a reserve: whether its thread has retired
  bool is_wanted = false;   ///< for a reserve: whether it was wanted since then
  std::thread thread;
  ForkWatch fork_watch{static_cast<TaskHome*>(&Access::core(loop)), &lose_agent};
};

/// The parent's agent runs what is left. To go on in the child would run it twice.
void Agent::Impl::end_if_lost() const noexcept {
  if (!fork_watch.is_lost()) return;
  static_cast<void>(std::fputs(
      "heist: a task called fork() and went on in the child: call exec or _exit there\n", stderr));
  std::abort();
}

void Agent::Impl::run() {
  try {
    agent_of_this_thread = &self;
    name_this_thread(options.name);
    end_sleeps_within(options.loop.tick);
    if (options.affinity) pin_this_thread(*options.affinity);
    drive();
  } catch (...) {  // the thread has not started
    return start.tell(std::current_exception());
  }
  Access::core(loop).sleep().time().begin();
  if (options.on_stop) invoke_and_report(options.on_stop, ErrorOrigin::task);
  calls.reach(CloseCalls::Stage::stopped);
}

/// Runs for as long as the reserve is needed. Another thread may follow this one.
void Agent::Impl::run_as_reserve() {
  agent_of_this_thread = &self;
  name_this_thread(options.name);
  end_sleeps_within(options.loop.tick);
  do {
    serve();
    if (options.on_stop) invoke_and_report(options.on_stop, ErrorOrigin::task);
  } while (goes_on());
  if (close_taken) calls.reach(CloseCalls::Stage::stopped);
}

/// Runs tasks until the reserve has retired or was closed.
void Agent::Impl::serve() {
  LoopCore& core = Access::core(loop);
  const DriveScope driving(core);
  core.assert_agent();
  Member::of(core)->enlist();
  core.sleep().time().end();
  if (options.on_start) invoke_and_report(options.on_start, ErrorOrigin::task);
  do {
    core.run();
    end_if_lost();
  } while (!close_taken && !try_retire());
  if (close_taken) leave();
  core.sleep().time().begin();
}

/// Called by a reserve after on_stop: returns whether it was wanted meanwhile.
bool Agent::Impl::goes_on() {
  if (close_taken) return false;
  {
    const std::lock_guard lock(closing);
    is_ending = false;
    if (std::exchange(is_wanted, false)) return true;
    if (!close_requested) {
      has_thread = false;
      return false;
    }
  }
  close_without_thread();
  return false;
}

/// One DriveScope lasts from on_start to the end of the close. In any gap Timeout::clear() on
/// another thread would drive the loop.
void Agent::Impl::drive() {
  LoopCore& core = Access::core(loop);
  const DriveScope driving(core);
  core.assert_agent();
  const HostScope hosted(core, options.host);
  if (options.on_start) options.on_start();
  start.tell();
  while (!close_taken) {
    core.run();
    end_if_lost();
  }
  leave();
}

/// Called inside of a DriveScope scope.
void Agent::Impl::leave() {
  LoopCore& core = Access::core(loop);
  core.assert_agent();
  Member* const member = Member::of(core);
  // What the close drops may wait for the others' tasks.
  if (member != nullptr) member->core().closing().begin_to_leave();
  core.closing().close();
  if (member != nullptr) member->core().closing().leave(core);
  calls.reach(CloseCalls::Stage::closed);
}

/// Called by a reserve whose run() has ended. Returns false when it is closed, or wanted again.
bool Agent::Impl::try_retire() {
  LoopCore& core = Access::core(loop);
  core.assert_agent();
  const std::lock_guard lock(closing);
  if (close_requested || !Member::of(core)->try_retire()) return false;
  return is_ending = true;
}

/// Starts or wakes the reserve's thread. To make a new thread it joins the one before, which has
/// nothing left to do.
void Agent::Impl::wake_reserve() noexcept {
  LoopCore& core = Access::core(loop);
  const std::lock_guard lock(closing);
  if (is_ending) is_wanted = true;
  if (has_thread) return core.sleep().wake_up();
  if (close_requested) return;
  try {
    if (thread.joinable()) thread.join();
    thread = std::thread([this] { run_as_reserve(); });
    has_thread = true;
  } catch (const std::exception&) {  // no thread, or no memory
    Member::of(core)->withdraw();
  }
}

/// Called for a reserve once no thread will be made for it any more, on its last thread or on a
/// closer's.
void Agent::Impl::close_without_thread() {
  {
    const DriveScope driving(Access::core(loop));
    leave();
  }
  calls.reach(CloseCalls::Stage::stopped);
}

void Agent::Impl::check_closer() const {
  if (fork_watch.is_lost()) {
    throw NotAllowedError(
        "Agent::close in a child of fork: only the parent has the agent's thread");
  }
  if (agent_of_this_thread == &self) {
    throw NotAllowedError("Agent::close on its own thread would wait for itself");
  }
}

CloseReport Agent::Impl::close(const CloseMode& mode) {
  check_closer();
  const CloseCall call(mode);
  request_close(mode);
  await_close(call);
  return Access::core(loop).counts().report_since(ended_before_close);
}

/// When others have asked before, the stricter terms count.
void Agent::Impl::request_close(const CloseMode& mode) {
  Access::core(loop).close_terms().tighten(mode);
  if (begin_close(Access::core(loop).counts().begun().ended())) close_without_thread();
}

/// Returns true to the first caller if the agent is a reserve without a thread. `ended` is how many
/// tasks had ended when the close was called.
bool Agent::Impl::begin_close(std::uint64_t ended) {
  LoopCore& core = Access::core(loop);
  const std::lock_guard lock(closing);
  if (std::exchange(close_requested, true)) {
    core.stop_request().send();  // it looks at the terms again
    return false;
  }
  ended_before_close = ended;
  core.refuse_tasks();
  if (is_reserve && !has_thread) return true;
  core.send(*this);
  return false;
}

/// Waits until the deadline of this call, or of a later one.
void Agent::Impl::await_close(const CloseCall& call) {
  DrainWatch watch(Access::core(loop).close_terms());
  for (;;) {
    const auto look_at = call.deadline ? std::nullopt : watch.due();
    if (calls.wait(call.number, call.deadline ? call.deadline : look_at)) return;
    if (call.deadline) return leave_behind(call);
    watch.look([this] { return Access::core(loop).closing().find_obstacle(); });
  }
}

/// Called when the deadline has come and the agent has not finished.
void Agent::Impl::leave_behind(const CloseCall& call) {
  LoopCore& core = Access::core(loop);
  const auto patience = Clock::now() + between_tasks;
  while (!core.counts().activity().runs_something() && Clock::now() < patience) {
    if (calls.wait_closed(Clock::now() + between_tasks / 10)) return calls.leave(call.number);
  }
  core.running_task().reject();
  calls.leave(call.number);
}

Agent::Agent(AgentOptions options) : Agent(std::move(options), NotStarted()) {
  impl_->is_member = false;
  start();
}

Agent::Agent(AgentOptions options, NotStarted /*not_started*/) {
  if (options.loop.clock == LoopClock::virtual_time) {
    throw std::invalid_argument("AgentOptions::loop.clock: an agent cannot follow a virtual clock");
  }
  impl_ = std::make_unique<Impl>(*this, std::move(options));
}

void Agent::start() {
  impl_->thread = std::thread([this] { impl_->run(); });
  try {
    impl_->start.hear();
  } catch (...) {
    impl_->thread.join();
    throw;
  }
}

// It throws, and so terminates, only on the agent's own thread. That use is documented as
// forbidden.
Agent::~Agent() {  // NOLINT(bugprone-exception-escape)
  if (impl_->fork_watch.is_lost()) {
    static_cast<void>(impl_.release());  // stays as fork() found it
    return;
  }
  join();
}

void Agent::join() {
  if (!impl_->thread.joinable() && !impl_->is_reserve) return;  // never started
  static_cast<void>(impl_->close(CloseMode::abort()));
  if (impl_->thread.joinable()) impl_->thread.join();
}

void Agent::make_reserve() noexcept {
  impl_->is_reserve = true;
  core().sleep().time().begin();
}
void Agent::wake_reserve() noexcept { impl_->wake_reserve(); }

Scheduler Agent::scheduler() const noexcept { return impl_->loop.scheduler(); }
const std::string& Agent::name() const noexcept { return impl_->options.name; }
LoopCore& Agent::core() const noexcept { return Access::core(impl_->loop); }
Agent* Agent::current() noexcept { return agent_of_this_thread; }
CloseReport Agent::close(const CloseMode& mode) {
  if (impl_->is_member) {
    throw NotAllowedError("Agent::close: it belongs to a cluster; close that");
  }
  return impl_->close(mode);
}
void Agent::request_close(const CloseMode& mode) { impl_->request_close(mode); }
void Agent::await_close(const CloseCall& call) { impl_->await_close(call); }
EventLoopStats Agent::stats() const noexcept { return impl_->loop.stats(); }

LoopMetrics Agent::metrics() const {
  LoopMetrics metrics = impl_->loop.metrics();
  if (const Member* member = Member::of(core()))
    metrics.stolen = member->core().stolen(member->index());
  return metrics;
}

void Agent::set_sampling(std::uint32_t every) { impl_->loop.set_sampling(every); }

}  // namespace HEIST_NAMESPACE
