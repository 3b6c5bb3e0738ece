// Registry: the tasks and listeners that are registered with a signal.
#pragma once

#include <cstdint>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/sync.hpp>

#include "shares_and_deaths.hpp"

namespace HEIST_NAMESPACE::detail {

// Roles   registrant: any thread (add).  walker: the one thread that aborts, or that delivers a
//         priority change.  pruner: one thread at a time; it has noted a death when a portion was
//         due.
// States  head_: the list of registrations, newest first; `closed` after close(). gate_: who is
//         inside (walking, pruning), and closed_list_left: the walker has gone and left the closed
//         list to the pruner that is inside. passes_: null, because most registries never have
//         enough registrations to be pruned, until an add that comes after passes_after others.
//         An add may allocate, and a death must not (LIF-4). Passes::kept: null, or the place to
//         which the present pass has come. A pass goes through all registrations older than the
//         newest one at its beginning. It goes in portions, and each may be another pruner's.
// I1      Only the pruner unlinks nodes, never at the head, and only dead ones. A dead node never
//         becomes alive again, so the walker loses nothing when it misses one.
// I2      An unlinked node keeps its `older` pointer and its memory until neither a walker nor a
//         pruner is inside. So a walker that stands on it still reaches every live node behind it.
//         The same holds for a closed list. Its claimed nodes have no share of the registry's any
//         more, so if a pruner is inside when the walker begins to leave, each of them gets one.
//         (No other pruner can enter until the walker has left.)
// I3      No pruner enters while a walker is inside. If a walker and a pruner are inside together,
//         the first to leave leaves its nodes to the other. A thread that finds itself alone inside
//         takes the nodes before it takes its bit out of gate_, while nobody else can enter the
//         same role. Then the nodes are its own: whoever enters later does not meet them.
// I4      Passes::kept is in the list: it was alive, or was the head, when the last pruner left,
//         and only pruners unlink. A closed list is taken by a thread that is inside. So a pruner
//         that comes later finds the registry closed, and does not look at it.
// I5      Whoever finds a pruner inside finds passes_: the pruner has it before it enters.
// Edge registry: add -> walk, close, prune. Carries the registration. add and the first load of a
//         walk are seq_cst: one half of D2 of SignalPriority.
// Edge registry: close -> refuse. Carries the abort reason to a thread that comes too late.
// Edge registry: make -> find. Carries the new Passes from the add to pruners and walkers.
// Edge registry: begin -> meet. Carries passes_ to a walker that finds a pruner inside (I5).
// Edge registry: unlink -> walk. Carries the shortened list (a walker may follow either pointer).
// Edge registry: leave -> leave, enter, meet, begin. Carries the unlinked and the closed nodes to
//         the thread that frees them. To the next thread that enters it carries how far a pass has
//         come, and the finished list.
// Reclamation  The registry holds one share of each node, and forget() drops it. A walker that
//         keeps a node beyond its walk takes a share of its own, or in a close the registry's.
// Progress  add is lock-free; walking and pruning never wait for anyone. A death looks at one
//         portion at most, and frees at most that, however many nodes are registered (ABT-4). But a
//         pruner that is stopped inside while a whole close goes by frees the closed list.
// Bound   "Dead" are those that died and were not unlinked. A pass is due when they reach half of
//         the nodes that were alive at the last pass, plus the margin: dead <= live + 2 *
//         prune_margin then. With n nodes a pass takes n * pace / portion, that is n / 8 deaths. So
//         until its end dead <= 3 * live + 4 * (prune_margin + 2 * pace) (ABT-5). That is amortised
//         O(1) for each death. A death that finds somebody inside leaves its portion to the death
//         that comes `pace` later. The bound begins to hold when there are Passes. That is later
//         than the first 16 deaths if there was no memory for them, or if the counts of adds were
//         lost: an add that is stopped while it counts undoes the counts of those that overtake
//         it, 7 at the most. (A registration may be unlinked before its death is counted: a task
//         without a promise is dead when it starts, and counted when it ends.)
// Proof   tests/concurrent/registry_test.cpp, stress/registry_stress.cpp, abort_post_stress.cpp,
//         listener_stress.cpp, stress/model/models/recycling.cpp
class Registry {
 public:
  static constexpr std::int32_t prune_margin = 16;
  static constexpr std::uint8_t passes_after = prune_margin / 2;

  Registry() noexcept = default;
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;
  /// Precondition: no other user is left.
  ~Registry();

  /// Called by any thread. What keeps the registry alive may go with the registration, as soon as
  /// that can be found. Returns false when the registry is closed; the registration was not added.
  [[nodiscard]] bool add(Registration& registration) noexcept;

  /// Called by any thread when one more registration has died. Prunes a portion when that pays.
  void note_dead() noexcept;
  /// Does the same, and drops a reference to the registry's owner. Returns true when that was the
  /// last one.
  [[nodiscard]] bool leave() noexcept;

  /// The references to the owner, if it counts them here. There is one at first.
  [[nodiscard]] SharesAndDeaths& shares() noexcept { return shares_and_deaths_; }
  [[nodiscard]] const SharesAndDeaths& shares() const noexcept { return shares_and_deaths_; }

  /// Called by the walker: calls `visit(Registration&)` for those added before, newest first.
  template <class Visit>
  void walk(Visit&& visit) noexcept {
    enter_walk();
    visit_all(newest(), visit);
    leave_walk(nullptr);
  }

  /// Does the same as walk(), and refuses every later add. To be called once.
  template <class Visit>
  void close(Visit&& visit) noexcept {
    enter_walk();
    Registration* const closed_list = close_list();
    visit_all(closed_list, visit);
    leave_walk(closed_list);
  }

 private:
  static Registration closed_mark;  ///< head_ of a closed registry
  static constexpr std::uint16_t walking = 1;
  static constexpr std::uint16_t pruning = 2;
  static constexpr std::uint16_t closed_list_left = 4;
  static constexpr std::uint32_t portion = 64;  ///< nodes that a pass looks at at once, ...
  static constexpr std::int32_t pace = 8;       ///< ... whenever so many more have died

  /// What passes need. It belongs to the pruner, but for the lists that are left to the other one
  /// inside.
  struct Passes {
    /// How many deaths shares_and_deaths_ has allowed so far, less the nodes that were unlinked. It
    /// may fall below zero within a pass.
    std::int32_t allowed = prune_margin;
    std::int32_t live = 0;                ///< how many it met alive in this pass
    Registration* kept = nullptr;         ///< the last node that this pass has kept
    Registration* unlinked = nullptr;     ///< may be left to the walker inside
    Registration* closed_list = nullptr;  ///< left by a walker to the pruner inside
  };

  template <class Visit>
  static void visit_all(Registration* node, Visit& visit) noexcept {
    for (; node != nullptr; node = node->older.load(sync::edge("registry:walk", sync::acquire))) {
      visit(*node);
    }
  }
  /// Whether a portion is to be pruned when so many deaths are left until a pass is due.
  static constexpr bool is_due(std::int32_t left) noexcept { return left <= 0 && left % pace == 0; }
  [[nodiscard]] bool is_closed() const noexcept {
    return head_.load(sync::relaxed) == &closed_mark;  // relaxed: it only saves pruning.
  }
  [[nodiscard]] Registration* newest() const noexcept;
  [[nodiscard]] Registration* close_list() noexcept;
  void enter_walk() noexcept;
  static void restore_shares(Registration* closed_list) noexcept;
  void leave_walk(Registration* closed_list) noexcept;
  [[nodiscard]] Passes* find_passes() const noexcept;
  void count_add() noexcept;
  [[nodiscard]] bool make_passes() noexcept;
  void prune_some() noexcept;
  void unlink_some(Passes& passes) noexcept;
  void end_pass(Passes& passes) noexcept;
  void leave_prune(Passes& passes) noexcept;

  sync::atomic<Registration*> head_{nullptr};
  SharesAndDeaths shares_and_deaths_{prune_margin};
  sync::atomic<Passes*> passes_{nullptr};  ///< owned
  sync::atomic<std::uint16_t> gate_{0};
  sync::atomic<std::uint8_t> until_passes_{passes_after + 1};  ///< adds until passes_ is made
};

inline bool Registry::add(Registration& registration) noexcept {
  // relaxed: it only decides when passes_ is made. A count that is lost makes that later.
  if (until_passes_.load(sync::relaxed) != 0) count_add();
  Registration* head = head_.load(sync::edge("registry:refuse", sync::acquire));
  do {
    if (head == &closed_mark) return false;
    registration.older.store(head, sync::relaxed);  // relaxed: published by the CAS.
  } while (!head_.compare_exchange_weak(head, &registration,
                                        sync::edge("registry:add", sync::seq_cst),
                                        sync::edge("registry:refuse", sync::acquire)));
  return true;
}

inline void Registry::note_dead() noexcept {
  if (!is_closed() && is_due(shares_and_deaths_.count_death())) prune_some();
}

inline bool Registry::leave() noexcept {
  if (is_closed()) return shares_and_deaths_.drop();
  const auto left = shares_and_deaths_.try_leave(is_due);
  if (left != SharesAndDeaths::Left::not_yet) return left == SharesAndDeaths::Left::last;
  note_dead();
  return shares_and_deaths_.drop();
}

}  // namespace HEIST_NAMESPACE::detail
