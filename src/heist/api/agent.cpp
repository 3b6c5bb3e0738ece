#include <cstdio>
#include <cstdlib>
#include <future>
#include <heist/agent.hpp>
#include <heist/error.hpp>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "../loop/cluster_hub.hpp"
#include "../loop/driving.hpp"
#include "../loop/loop_core.hpp"
#include "../os/fork_watch.hpp"
#include "../os/thread.hpp"

namespace heist {

namespace {

thread_local constinit Agent* agent_of_this_thread = nullptr;

}  // namespace

/// The agent's thread and how it is closed. The mutex orders closers only; tasks never meet it.
struct Agent::Impl : LoopNode {
  Impl(Agent& owner, AgentOptions agent_options)
      : LoopNode(close_table), options(std::move(agent_options)), loop(options.loop), self(owner) {}

  void run(std::promise<void> started);
  CloseReport drive(std::promise<void>& started);
  void run_as_reserve();
  bool serve();
  void get_up() noexcept;
  bool try_retire();
  CloseReport leave();
  void close_without_thread();
  CloseReport close(const CloseMode& mode);
  bool request_close(const CloseMode& mode);
  Closed await_close(const CloseMode& mode);
  Closed leave_behind();

  static Impl& of(LoopNode& node) noexcept { return static_cast<Impl&>(node); }
  static void take_close(LoopNode& node, LoopCore& core) noexcept {
    of(node).close_taken = true;
    core.on_agent().stop_requested = true;
  }
  static void ignore(LoopNode& /*node*/) noexcept {}
  void end_if_lost() const noexcept;
  static constexpr LoopNodeOps close_table{LoopNodeKind::message, &take_close, &ignore};

  AgentOptions options;
  EventLoop loop;
  Agent& self;
  bool is_member = true;             ///< of a cluster, which closes it
  bool is_reserve = false;           ///< of that cluster
  bool close_taken = false;          ///< agent only
  CloseMode close_mode;              ///< closer's, then (by the close message) the agent's
  std::promise<CloseReport> closed;  ///< the loop; then on_stop runs, then the agent has stopped
  std::shared_future<CloseReport> report = closed.get_future().share();
  std::promise<void> stopped;
  std::shared_future<void> stop = stopped.get_future().share();
  std::mutex closing;
  bool close_requested = false;        ///< guarded by closing
  std::uint64_t ran_before_close = 0;  ///< guarded by closing
  bool has_thread = false;  ///< a reserve, guarded by closing: one that has not decided to end
  std::thread thread;
  ForkWatch fork_watch{&loop.core(), &LoopCore::lose_agent};
};

/// The parent's agent runs what is left: going on would run it twice.
void Agent::Impl::end_if_lost() const noexcept {
  if (!fork_watch.is_lost()) return;
  static_cast<void>(std::fputs(
      "heist: a task called fork() and went on in the child: call exec or _exit there\n", stderr));
  std::abort();
}

void Agent::Impl::run(std::promise<void> started) {
  try {
    agent_of_this_thread = &self;
    name_this_thread(options.name);
    if (options.affinity) pin_this_thread(*options.affinity);
    closed.set_value(drive(started));
  } catch (...) {  // it has not started
    return started.set_exception(std::current_exception());
  }
  if (options.on_stop) invoke_and_report(options.on_stop, ErrorOrigin::task);
  stopped.set_value();
}

/// For as long as it is needed; another thread may follow this one.
void Agent::Impl::run_as_reserve() {
  agent_of_this_thread = &self;
  name_this_thread(options.name);
  const bool is_over = serve();
  if (options.on_stop) invoke_and_report(options.on_stop, ErrorOrigin::task);
  if (is_over) stopped.set_value();
}

/// True when it was closed.
bool Agent::Impl::serve() {
  LoopCore& core = loop.core();
  const Driving driving(core);
  core.assert_agent();
  core.membership().hub->enlist(core);
  if (options.on_start) invoke_and_report(options.on_start, ErrorOrigin::task);
  do {
    core.run();
    end_if_lost();
  } while (!close_taken && !try_retire());
  if (close_taken) closed.set_value(leave());
  return close_taken;
}

/// One scope from on_start to the end of the close: Timeout::clear() on another thread would drive the
/// loop in any gap.
CloseReport Agent::Impl::drive(std::promise<void>& started) {
  LoopCore& core = loop.core();
  const Driving driving(core);
  core.assert_agent();
  if (options.on_start) options.on_start();
  started.set_value();
  while (!close_taken) {
    core.run();
    end_if_lost();
  }
  return leave();
}

/// Inside of a Driving scope.
CloseReport Agent::Impl::leave() {
  LoopCore& core = loop.core();
  core.assert_agent();
  ClusterHub* const hub = core.membership().hub;
  if (hub != nullptr) hub->begin_to_leave();  // what the close drops may wait for the others' tasks
  CloseReport left = core.close(close_mode);
  if (hub != nullptr) left.aborted += hub->leave(core);
  return left;
}

/// A reserve whose run() ended. False: it is closed, or wanted again.
bool Agent::Impl::try_retire() {
  LoopCore& core = loop.core();
  core.assert_agent();
  const std::lock_guard lock(closing);
  if (close_requested || !core.membership().hub->try_retire(core)) return false;
  has_thread = false;
  return true;
}

/// Who makes a thread waits for the one before it, which has nothing left to do but on_stop.
void Agent::Impl::get_up() noexcept {
  LoopCore& core = loop.core();
  const std::lock_guard lock(closing);
  if (has_thread) return core.wake_up();
  if (close_requested) return;
  try {
    if (thread.joinable()) thread.join();
    thread = std::thread([this] { run_as_reserve(); });
    has_thread = true;
  } catch (const std::exception&) {  // no thread, or no memory
    core.membership().hub->give_up(core);
  }
}

/// A reserve, once no thread will be made any more.
void Agent::Impl::close_without_thread() {
  if (thread.joinable()) thread.join();
  {
    const Driving driving(loop.core());
    closed.set_value(leave());
  }
  stopped.set_value();
}

CloseReport Agent::Impl::close(const CloseMode& mode) {
  if (fork_watch.is_lost()) {
    throw NotAllowedError(
        "Agent::close in a child of fork: only the parent has the agent's thread");
  }
  if (agent_of_this_thread == &self) {
    throw NotAllowedError("Agent::close on its own thread would wait for itself");
  }
  if (!request_close(mode)) {
    static_cast<void>(await_close(mode));
    return {};
  }
  return await_close(mode).report;
}

/// False when another close came first.
bool Agent::Impl::request_close(const CloseMode& mode) {
  {
    const std::lock_guard lock(closing);
    if (close_requested) return false;
    close_requested = true;
    close_mode = mode;
    ran_before_close = loop.stats().tasks_run;
    loop.core().refuse_tasks();
    if (!is_reserve || has_thread) {
      loop.core().send(*this);
      return true;
    }
  }
  close_without_thread();
  return true;
}

Agent::Closed Agent::Impl::await_close(const CloseMode& mode) {
  if (!mode.deadline) {
    stop.wait();
    return {.report = report.get()};
  }
  static_cast<void>(stop.wait_until(*mode.deadline));
  // An agent that is between tasks drops the rest now: that takes a moment.
  const auto patience = std::chrono::milliseconds(loop.core().running() != nullptr ? 0 : 10);
  if (report.wait_for(patience) == std::future_status::ready) return {.report = report.get()};
  return leave_behind();
}

/// The deadline has come, and the agent is not done.
Agent::Closed Agent::Impl::leave_behind() {
  const void* const running = loop.core().running();
  const bool runs = running != nullptr;
  // Runs users' code: not under the mutex.
  if (runs) loop.core().reject_running();
  const std::lock_guard lock(closing);
  const auto begun = loop.stats().tasks_run - ran_before_close;
  // The running one may have begun before.
  const CloseReport left{
      .ran = runs && begun > 0 ? begun - 1 : begun, .aborted = 0, .still_running = runs ? 1U : 0};
  return {.report = left, .running = running};
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
  std::promise<void> started;
  auto start = started.get_future();
  impl_->thread = std::thread(
      [this, started = std::move(started)]() mutable { impl_->run(std::move(started)); });
  try {
    start.get();
  } catch (...) {
    impl_->thread.join();
    throw;
  }
}

// Throws, and so terminates, only on the agent's own thread, which is documented as forbidden.
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

void Agent::make_reserve() noexcept { impl_->is_reserve = true; }
void Agent::get_up() noexcept { impl_->get_up(); }

Scheduler Agent::scheduler() const noexcept { return impl_->loop.scheduler(); }
const std::string& Agent::name() const noexcept { return impl_->options.name; }
LoopCore& Agent::core() const noexcept { return impl_->loop.core(); }
Agent* Agent::current() noexcept { return agent_of_this_thread; }
CloseReport Agent::close(const CloseMode& mode) {
  if (impl_->is_member) {
    throw NotAllowedError("Agent::close: it belongs to a cluster; close that");
  }
  return impl_->close(mode);
}
void Agent::request_close(const CloseMode& mode) { impl_->request_close(mode); }
Agent::Closed Agent::close_as_member(const CloseMode& mode) { return impl_->await_close(mode); }
EventLoopStats Agent::stats() const noexcept { return impl_->loop.stats(); }

}  // namespace heist
