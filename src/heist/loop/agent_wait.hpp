// AgentWait: what an agent's thread waits for, in get() or wait(), without a limit.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <memory>
#include <optional>

namespace HEIST_NAMESPACE::detail {

class LoopCore;
class PromiseStateBase;
class TaskHome;
struct SeenWaits;

// Roles   waiter: the agent's thread.  looker: whoever wants to know who waits for whom: a member
//         of its cluster that is about to wait, or has waited long, or a closer.
// I1      A promise that is waited for lasts as long as somebody looks: whoever ends a wait waits
//         for those that look (ClusterWaits::lookers_).
// Edge wait: begin, end <-> look, looked. Take it back, then see who looks; say so, then look. Of
//         two that begin, and then look at each other, one sees the other.
// Progress  lock-free, but for the end of a wait that somebody looks at.
// Proof   stress/model/models/cluster_waits.cpp
struct AgentWait {
  /// The waiter. `settler`: the only home that can settle the promise; null: anybody might. `own`:
  /// what the running task is to settle; null: nothing.
  void begin(const PromiseStateBase& promise, const TaskHome* settler,
             const PromiseStateBase* own) noexcept;
  void end() noexcept;

  sync::atomic<const PromiseStateBase*> on{nullptr};  ///< null: it does not wait
  // `settles` is written before `on`, and read after it.
  sync::atomic<const PromiseStateBase*> settles{nullptr};  ///< what its running task is to settle
  sync::atomic<const TaskHome*> home{nullptr};             ///< the only one that can settle it
  sync::atomic<std::uint32_t> count{0};                    ///< of its waits
};

/// The calling thread, if it is an agent's, waits without a limit.
///
/// Errors: NotAllowedError when that would never end, as all that could end it wait, too (CLU-5).
///
/// Not every circle of waits is seen: what a task settles that goes on after a co_await is not
/// known, and a stealable one may be run by whoever is free. So when several members of a cluster
/// wait for long, that is told, once, by the first of them.
class AgentWaiting {
 public:
  using Clock = std::chrono::steady_clock;

  AgentWaiting(const PromiseStateBase& on, const TaskHome* home);
  AgentWaiting(const AgentWaiting&) = delete;
  AgentWaiting& operator=(const AgentWaiting&) = delete;
  ~AgentWaiting();

  /// When to call look(); nothing when no agents could wait for each other, or when it was told
  /// already.
  [[nodiscard]] std::optional<Clock::time_point> look_at() const noexcept { return look_at_; }
  void look() noexcept;

 private:
  void end() noexcept;

  LoopCore* agent_;  ///< null: a plain thread
  std::optional<Clock::time_point> look_at_;
  std::unique_ptr<SeenWaits> seen_;  ///< who waited at the last look
};

}  // namespace HEIST_NAMESPACE::detail
