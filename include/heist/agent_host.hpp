// AgentHost: where an agent sleeps, for agents that serve sockets beside their tasks.
#pragma once

#include <heist/detail/export.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE {

/// A reactor inside of an agent: epoll, io_uring or a foreign loop. With a host an agent looks at
/// its events between two turns of tasks, and waits for them instead of only going to sleep. So
/// one thread serves both, and no other is needed. heist::asio::AgentContexts is one for Asio.
///
/// What a host calls counts as a task does: it may post, its reactions are run, and a close waits
/// for it. It has no priority of its own.
///
/// Thread:   the agent's; nothing here is called from any other.
/// Lifetime: it outlives its agent.
/// Spec:     contract HOST, ADR 0058.
class HEIST_EXPORT AgentHost {
 public:
  AgentHost() = default;
  AgentHost(const AgentHost&) = delete;
  AgentHost& operator=(const AgentHost&) = delete;
  virtual ~AgentHost();

  /// Called before the agent's on_start. From now on wait() has to return when `wakeup_fd` is
  /// readable. The descriptor becomes readable when the agent is woken, and when its next delay
  /// ends. Only the agent reads from it; the host just waits for it in each wait().
  ///
  /// Errors: any; then the agent does not start.
  virtual void begin(int wakeup_fd) = 0;
  /// Handles what is ready, without waiting. Called after 64 tasks or 100 microseconds of tasks,
  /// and when there are none. Tasks wait for its return, so it should leave what takes long for the
  /// next time.
  virtual void poll() noexcept = 0;
  /// Waits for an event, or until the descriptor is readable. It may return early, and has to
  /// return once it has called anything.
  ///
  /// Other agents take this one for idle meanwhile, and leave tasks to it. So it should only wait:
  /// poll() follows. A host that has to call users' code in it calls end_wait() before.
  virtual void wait() noexcept = 0;
  /// Called when the agent has closed. The descriptor is not to be used any more.
  virtual void end() noexcept = 0;

 protected:
  /// To be called within wait() before users' code. From then on other agents do not take this one
  /// for idle, and tasks that were left to it go to another agent. Outside of a wait() it does
  /// nothing.
  ///
  /// Cost: a call; the first one in a wait() some atomic operations, and perhaps a wake-up.
  static void end_wait() noexcept;
};

}  // namespace HEIST_NAMESPACE
