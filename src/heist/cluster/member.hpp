// Member: an agent's side of a cluster.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/detail/loop_node.hpp>
#include <heist/detail/sync.hpp>
#include <optional>

#include "../loop/loop_core.hpp"
#include "../loop/membership.hpp"
#include "../task/tick_reader.hpp"

namespace HEIST_NAMESPACE::detail {

class ClusterCore;

/// How a loop in a cluster picks, searches, sleeps, forks and blocks. The last members of a cluster
/// are reserves. A reserve picks in the place of a member that is blocked (Reserves).
///
/// Thread: the loop's agent, unless said otherwise.
/// Lifetime  The loop owns it. It refers to the cluster, which exists until the loop is closed.
class Member final : public Membership {
 public:
  Member(ClusterCore& cluster, LoopCore& loop, unsigned index) noexcept;

  /// The member that a loop of a cluster has.   Thread: any.
  [[nodiscard]] static Member* of(const LoopCore& loop) noexcept {
    return static_cast<Member*>(loop.membership());
  }
  /// The member of the calling thread, even while a loop inside of the member's own loop runs.
  /// Returns null when there is none. Thread: any.
  [[nodiscard]] static Member* here() noexcept;
  [[nodiscard]] ClusterCore& core() const noexcept { return cluster_; }
  [[nodiscard]] unsigned index() const noexcept { return index_; }

  [[nodiscard]] LoopNode* pick() noexcept override HEIST_ON_AGENT;
  [[nodiscard]] int picked_level() const noexcept override;
  [[nodiscard]] SchedulerTask* keep_delays() noexcept override HEIST_ON_AGENT;
  [[nodiscard]] bool collect_aborted() noexcept override HEIST_ON_AGENT;
  [[nodiscard]] bool wants_keeper() noexcept override HEIST_ON_AGENT;
  [[nodiscard]] bool has_more_urgent(int level) noexcept override HEIST_ON_AGENT;
  void show_words(UrgentLook& to) const noexcept override;
  void park(std::optional<LoopTime::Clock::time_point> limit) noexcept override HEIST_ON_AGENT;
  void end_wait() noexcept override HEIST_ON_AGENT;
  void end_search() noexcept override HEIST_ON_AGENT;
  void drop_before_wait() noexcept override;
  [[nodiscard]] bool is_stuck() noexcept override;
  [[nodiscard]] std::string find_long_waits(std::unique_ptr<SeenWaits>& seen) override;
  void await_lookers() noexcept override;

  /// Called from within a task: a reserve, if there is one, picks in this member's place until
  /// end_blocking(). Returns false when this member is blocked already.
  [[nodiscard]] bool begin_blocking() noexcept;
  void end_blocking() noexcept;
  [[nodiscard]] bool is_blocked() const noexcept { return is_blocked_; }

  /// Called by a reserve when its thread begins.
  void enlist() noexcept;
  /// Called by a reserve whose run() has ended without a close: whether its thread may end.
  [[nodiscard]] bool try_retire() noexcept HEIST_ON_AGENT;
  /// Called for a reserve that had to start, but could not because no thread could be had. Thread:
  /// any.
  void withdraw() noexcept;

  // For threads that know that this member sleeps.

  /// When the first delay of its own loop ends, or no_tick when the loop has none.
  [[nodiscard]] Tick slept_until() const noexcept {
    return slept_until_.load(sync::relaxed);  // relaxed: its announcement publishes it.
  }
  /// Whether it held tasks of a suspended scheduler when it went to sleep.
  [[nodiscard]] bool slept_holding() const noexcept {
    return slept_holding_.load(sync::relaxed);  // relaxed: as above.
  }

 private:
  using Moment = std::optional<LoopTime::Clock::time_point>;

  [[nodiscard]] LevelCounts& picked_counts() noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool clear_passed() noexcept HEIST_ON_AGENT;
  [[nodiscard]] LoopNode* pick_stealable() noexcept HEIST_ON_AGENT;
  [[nodiscard]] LoopNode* pick_first(int bound) noexcept HEIST_ON_AGENT;
  [[nodiscard]] LoopNode* pick_at(int level) noexcept HEIST_ON_AGENT;
  [[nodiscard]] std::optional<LoopNode*> pick_by_policy(std::chrono::nanoseconds now) noexcept
      HEIST_ON_AGENT;
  void note_pick(const LoopNode* node, std::chrono::nanoseconds now) noexcept HEIST_ON_AGENT;
  [[nodiscard]] LoopNode* pick_late(std::chrono::nanoseconds now,
                                    const LatePick& own) noexcept HEIST_ON_AGENT;
  [[nodiscard]] LoopNode* take_late(std::chrono::nanoseconds now,
                                    std::chrono::nanoseconds limit) noexcept HEIST_ON_AGENT;

  [[nodiscard]] bool has_work() noexcept HEIST_ON_AGENT;
  void park_among_all(Moment limit) noexcept HEIST_ON_AGENT;
  void note_what_is_left() noexcept;
  [[nodiscard]] bool announce_sleep() noexcept HEIST_ON_AGENT;
  void wait(Moment limit) noexcept HEIST_ON_AGENT;
  void end_sleep() noexcept HEIST_ON_AGENT;

  [[nodiscard]] unsigned rank() const noexcept;
  /// Its rank if it is a reserve.
  [[nodiscard]] std::optional<unsigned> own_rank() const noexcept;
  void wake_reserve(unsigned rank) noexcept;
  [[nodiscard]] bool may_pick() noexcept HEIST_ON_AGENT;
  void park_reserve(Moment limit) noexcept HEIST_ON_AGENT;
  void sleep_as_reserve(Moment limit) noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool announce_rest() noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool has_ended() noexcept HEIST_ON_AGENT;

  ClusterCore& cluster_;
  LoopCore& loop_;
  TickReader ticks_;  ///< of the cluster's clock
  const unsigned index_;
  const bool is_reserve_;
  bool is_blocked_ = false;  ///< in blocking()
  bool watches_ = false;     ///< it is the watcher (TimerKeeper)
  sync::atomic<Tick> slept_until_{
      no_tick};  ///< when the first of the loop's own delays ends, noted before sleep
  sync::atomic<bool> slept_holding_{
      false};  ///< whether tasks of a suspended scheduler were held, noted before sleep
  // Only a reserve uses these.
  bool is_rested_ = false;  ///< it slept for all its patience
  std::chrono::nanoseconds
      patience_{};  ///< how long it sleeps before it looks whether it is needed
};

}  // namespace HEIST_NAMESPACE::detail
