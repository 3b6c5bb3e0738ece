// Registry: the tasks and listeners that are registered with a signal.
#pragma once

#include <cstdint>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/sync.hpp>

namespace HEIST_NAMESPACE::detail {

// Roles   registrant: any thread (add).  walker: the one thread that aborts, or that delivers a
//         priority change.  pruner: one thread at a time; it has noted a death when a portion was
//         due.
// States  head_: the list of registrations, newest first; `closed` after close(). gate_: who is
//         inside (walking, pruning), and closed_list_left: the walker has gone and left the closed
//         list to the pruner that is inside. kept_: null, or the place to which the present pass
//         has come. A pass goes through all registrations older than the newest one at its
//         beginning. It goes in portions, and each may be another pruner's.
// I1      Only the pruner unlinks nodes, never at the head, and only dead ones. A dead node never
//         becomes alive again, so the walker loses nothing when it misses one.
// I2      An unlinked node keeps its `older` pointer and its memory until neither a walker nor a
//         pruner is inside. So a walker that stands on it still reaches every live node behind it.
//         The same holds for a closed list.
// I3      No pruner enters while a walker is inside. If a walker and a pruner are inside together,
//         the first to leave leaves its nodes to the other. A thread that finds itself alone inside
//         takes the nodes before it takes its bit out of gate_, while nobody else can enter the
//         same role. Then the nodes are its own: whoever enters later does not meet them.
// I4      kept_ is in the list: it was alive, or was the head, when the last pruner left, and only
//         pruners unlink. A closed list is taken by a thread that is inside. So a pruner that comes
//         later finds the registry closed, and does not look at kept_.
// Edge registry: add -> walk, close, prune. Carries the registration. add and the first load of a
//         walk are seq_cst: one half of D2 of SignalCore.
// Edge registry: close -> refuse. Carries the abort reason to a thread that comes too late.
// Edge registry: unlink -> walk. Carries the shortened list (a walker may follow either pointer).
// Edge registry: leave -> leave, enter. Carries the unlinked and the closed nodes to the thread
//         that frees them. To the next thread that enters it carries how far a pass has come, and
//         the finished list.
// Reclamation  The registry holds one share of each node, and forget() drops it. A walker that
//         keeps a node beyond its walk takes a share of its own.
// Progress  add is lock-free; walking and pruning never wait for anyone. A death looks at one
//         portion at most, and frees at most that, however many nodes are registered (ABT-4). But a
//         pruner that is stopped inside while a whole close goes by frees the closed list.
// Bound   A pass is due when the number of deaths reaches half of the nodes that were alive at the
//         last pass, plus the margin: dead <= live + 2 * prune_margin then. With n nodes a pass
//         takes n * pace / portion = n / 4 deaths, so until its end dead <= 3 * live + 4 *
//         (prune_margin + 2 * pace) (ABT-5). That is amortised O(1) for each death. A death that
//         finds somebody inside leaves its portion to the next death.
// Proof   tests/concurrent/registry_test.cpp, stress/registry_stress.cpp, abort_post_stress.cpp,
//         listener_stress.cpp, stress/model/models/recycling.cpp
class Registry {
 public:
  Registry() noexcept = default;
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;
  /// Precondition: no other user is left.
  ~Registry();

  /// Called by any thread. Returns false when the registry is closed; the registration was not
  /// added.
  [[nodiscard]] bool add(Registration& registration) noexcept;

  /// Called by any thread when one more registration has died. Prunes a portion when that pays.
  void note_dead() noexcept;

  /// Called by the walker: calls `visit(Registration&)` for those added before, newest first.
  template <class Visit>
  void walk(Visit&& visit) noexcept {
    enter_walk();
    visit_all(newest(), visit);
    leave_walk();
  }

  /// Does the same as walk(), and refuses every later add. To be called once.
  template <class Visit>
  void close(Visit&& visit) noexcept {
    enter_walk();
    closed_list_ = close_list();
    visit_all(closed_list_, visit);
    leave_walk();
  }

 private:
  static constexpr std::uint32_t walking = 1;
  static constexpr std::uint32_t pruning = 2;
  static constexpr std::uint32_t closed_list_left = 4;
  static constexpr std::uint32_t prune_margin = 64;
  static constexpr std::uint32_t portion = 64;  ///< nodes that a pass looks at at once, ...
  static constexpr std::uint32_t pace = 16;     ///< ... whenever so many more have died

  template <class Visit>
  static void visit_all(Registration* node, Visit& visit) noexcept {
    for (; node != nullptr; node = node->older.load(sync::edge("registry:walk", sync::acquire))) {
      visit(*node);
    }
  }
  [[nodiscard]] Registration* newest() const noexcept;
  [[nodiscard]] Registration* close_list() noexcept;
  void enter_walk() noexcept;
  void leave_walk() noexcept;
  void prune_some() noexcept;
  void unlink_some() noexcept;
  [[nodiscard]] Registration* begin_pass(Registration& newest) noexcept;
  void end_pass() noexcept;
  void leave_prune() noexcept;

  sync::atomic<Registration*> head_{nullptr};
  sync::atomic<std::uint32_t> dead_{0};
  sync::atomic<std::uint32_t> gate_{0};
  sync::atomic<std::uint32_t> prune_at_{prune_margin};
  std::uint32_t live_ = 0;               ///< the pruner's: how many it met alive in this pass
  Registration* kept_ = nullptr;         ///< the pruner's: the last node that this pass has kept
  Registration* unlinked_ = nullptr;     ///< the pruner's, or left by it to the walker inside
  Registration* closed_list_ = nullptr;  ///< the walker's, or left by it to the pruner inside
};

}  // namespace HEIST_NAMESPACE::detail
