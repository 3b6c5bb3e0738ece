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
  /// readable. It becomes so when the agent is woken, and when its next delay ends. The agent
  /// alone reads it; the host only waits until it is readable, over and over.
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
  /// To be called within wait() before users' code: others do not take this agent for idle any
  /// more, and what was left to it goes to another one. It does nothing in all other cases.
  ///
  /// Cost: a call; the first one in a wait() some atomic operations, and perhaps a wake-up.
  static void end_wait() noexcept;
};

}  // namespace HEIST_NAMESPACE
