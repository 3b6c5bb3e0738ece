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

// Roles   waiter: the agent's thread.  looker: a thread that wants to know who waits for whom. It
//         is a member of the cluster that is about to wait, or has waited for long, or it is a
//         closer.
// I1      A promise that is waited for lasts as long as somebody looks at it: a waiter that ends
//         its wait waits for the lookers (ClusterWaits::lookers_).
// Edge wait: begin, end <-> look, looked. A waiter that ends takes its word back, and then sees who
//         looks. A looker says that it looks, and then looks. Of two waiters that begin, and then
//         look at each other, at least one sees the other.
// Progress  lock-free, but for the end of a wait that somebody looks at.
// Proof   stress/model/models/cluster_waits.cpp
struct AgentWait {
  /// Called by the waiter. `settler` is the only home that can settle the promise, or null when
  /// anybody might. `own` is the promise that the running task is to settle, or null.
  void begin(const PromiseStateBase& promise, const TaskHome* settler,
             const PromiseStateBase* own) noexcept;
  void end() noexcept;

  sync::atomic<const PromiseStateBase*> on{nullptr};  ///< what it waits for, or null
  // `settles` and `home` are written before `on`, and read after it.
  sync::atomic<const PromiseStateBase*> settles{nullptr};  ///< what its running task is to settle
  sync::atomic<const TaskHome*> home{nullptr};             ///< the only one that can settle it
  sync::atomic<std::uint32_t> count{0};                    ///< of its waits
};

/// A scope in which the calling thread waits without a limit. It does something only if that is an
/// agent's thread.
///
/// Errors: NotAllowedError when the wait would never end, because everybody who could end it waits,
/// too (CLU-5).
///
/// Not every circle of waits is seen. Nothing says what a task will settle that goes on after a
/// co_await, and any free agent may run a stealable one. So when several members of a cluster wait
/// for long, the first of them tells so, once.
class AgentWaiting {
 public:
  using Clock = std::chrono::steady_clock;

  AgentWaiting(const PromiseStateBase& on, const TaskHome* home);
  AgentWaiting(const AgentWaiting&) = delete;
  AgentWaiting& operator=(const AgentWaiting&) = delete;
  ~AgentWaiting();

  /// When to call look(). Nothing when no agents could wait for each other, or when it was told
  /// already.
  [[nodiscard]] std::optional<Clock::time_point> look_at() const noexcept { return look_at_; }
  /// Errors: as above: the last one who could have ended the wait may have gone to rest meanwhile.
  void look();

 private:
  void refuse_if_stuck() const;
  void tell_of_long_waits() noexcept;
  void end() noexcept;

  LoopCore* agent_;  ///< null for a plain thread
  std::optional<Clock::time_point> look_at_;
  std::unique_ptr<SeenWaits> seen_;  ///< which agents waited at the last look
};

}  // namespace HEIST_NAMESPACE::detail
