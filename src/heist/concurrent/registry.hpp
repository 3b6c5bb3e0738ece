// Registry: the tasks and listeners registered with a signal.
#pragma once

#include <cstdint>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/sync.hpp>

namespace HEIST_NAMESPACE::detail {

// Roles   registrant: any thread (add).  walker: the one thread that aborts, or that delivers a
//         priority change. pruner: one thread at a time, whoever notes a death when a portion is
//         due.
// States  head_: list of registrations, newest first; `closed` after close(). gate_: who is
//         inside (walking, pruning), and closed_list_left: the walker has gone and left the closed
//         list to the pruner inside. kept_: null, or a pass is under way and has come so far. A
//         pass goes through all that are older than the newest one at its beginning, in portions,
//         each of which may be another pruner's.
// I1      Nodes are unlinked by the pruner only, never at the head, and only when dead; a dead node
//         never comes to life, so the walker loses nothing when it misses one.
// I2      An unlinked node keeps its `older` pointer and its memory until neither a walker nor a
//         pruner is inside: a walker standing on it still reaches every live node behind it. The
//         same holds for a closed list.
// I3      No pruner enters while a walker is inside. Of a walker and a pruner that are inside
//         together, the first to leave leaves its nodes to the other. Whoever finds itself alone
//         inside takes them, before it takes its bit out of gate_, while nobody else can enter the
//         same role. They are its own then: whoever enters later does not meet them.
// I4      kept_ is in the list: it was alive, or the head, when the last pruner left, and only
//         pruners unlink. A closed list is taken by whoever is inside, so that a pruner who comes
//         later finds it closed, and does not look at kept_.
// Edge registry: add -> walk, close, prune. Carries the registration. add and the first load of a
//         walk are seq_cst: one half of D2 of SignalCore.
// Edge registry: close -> refuse. Carries the abort reason to whoever comes too late.
// Edge registry: unlink -> walk. Carries the shortened list (a walker may follow either pointer).
// Edge registry: leave -> leave, enter. Carries the unlinked and the closed nodes to who frees
//         them, and how far a pass has come, and the finished list, to the next to enter.
// Reclamation  the registry holds one share of each node; forget() drops it. A walker that keeps a
//              node beyond its walk takes a share of its own.
// Progress  add lock-free; walking and pruning never wait for anyone. A death looks at, and frees,
//           one portion at the most, however many are registered (ABT-4). But a pruner that is
//           stopped inside while all of a close goes by frees the closed list.
// Bound   A pass is due when as many died as half of those alive at the last one, and the margin:
//         dead <= live + 2 * prune_margin then. With n nodes it takes n * pace / portion = n / 4
//         deaths, so until its end dead <= 3 * live + 4 * (prune_margin + 2 * pace) (ABT-5);
//         amortised O(1) for each. A death that finds somebody inside leaves its portion to the
//         next.
// Proof   tests/concurrent/registry_test.cpp, stress/registry_stress.cpp, abort_post_stress.cpp,
//         listener_stress.cpp, stress/model/models/recycling.cpp
class Registry {
 public:
  Registry() noexcept = default;
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;
  /// Precondition: no other user is left.
  ~Registry();

  /// Any thread. False: closed; the registration was not added.
  [[nodiscard]] bool add(Registration& registration) noexcept;

  /// Any thread: one more registration died. Prunes a portion when that pays.
  void note_dead() noexcept;

  /// The walker. Calls `visit(Registration&)` for those added before, newest first.
  template <class Visit>
  void walk(Visit&& visit) noexcept {
    enter_walk();
    visit_all(newest(), visit);
    leave_walk();
  }

  /// As walk(), and refuses every later add. Once.
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
  static constexpr std::uint32_t portion = 64;  ///< what a pass looks at at once, ...
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
  std::uint32_t live_ = 0;               ///< the pruner's: met alive in this pass
  Registration* kept_ = nullptr;         ///< the pruner's: the last one that this pass has kept
  Registration* unlinked_ = nullptr;     ///< the pruner's, or left by it to the walker inside
  Registration* closed_list_ = nullptr;  ///< the walker's, or left by it to the pruner inside
};

}  // namespace HEIST_NAMESPACE::detail
