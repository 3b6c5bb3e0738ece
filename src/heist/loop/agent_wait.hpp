// AgentWait: what an agent's thread waits for, in get() or wait(), without a limit.
#pragma once

#include <cstdint>
#include <heist/sync.hpp>

namespace heist {

class LoopCore;
class PromiseStateBase;
class TaskHome;

// Roles   waiter: the agent's thread.  looker: who wants to know who waits for whom: a member of its cluster that is about
//         to wait, or a closer.
// I1      A promise that is waited for lasts as long as somebody looks: who ends a wait waits for those that look
//         (ClusterWaits::lookers_).
// Edge wait: begin, end <-> look, looked. Take it back, then see who looks; say so, then look. Of two that begin, and
//         then look at each other, one sees the other.
// Progress  lock-free, but for the end of a wait that somebody looks at.
// Proof   stress/model/models/cluster_waits.cpp
struct AgentWait {
  /// The waiter. `settler`: the only home that can settle the promise; null: anybody might. `own`: what the
  /// running task is to settle; null: nothing.
  void begin(const PromiseStateBase& promise, const TaskHome* settler,
             const PromiseStateBase* own) noexcept;
  void end() noexcept;

  sync::atomic<const PromiseStateBase*> on{nullptr};  ///< null: it does not wait
  // Written before `on`, read behind it.
  sync::atomic<const PromiseStateBase*> settles{nullptr};  ///< what its running task is to settle
  sync::atomic<const TaskHome*> home{nullptr};             ///< the only one that can settle it
  sync::atomic<std::uint32_t> count{0};                    ///< of its waits
};

/// The calling thread, if it is an agent's, waits without a limit.
///
/// Errors: NotAllowedError when that would never end, as all that could end it wait, too (CLU-5).
class AgentWaiting {
 public:
  AgentWaiting(const PromiseStateBase& on, const TaskHome* home);
  AgentWaiting(const AgentWaiting&) = delete;
  AgentWaiting& operator=(const AgentWaiting&) = delete;
  ~AgentWaiting();

 private:
  void end() noexcept;

  LoopCore* agent_;  ///< null: a plain thread
};

}  // namespace heist
