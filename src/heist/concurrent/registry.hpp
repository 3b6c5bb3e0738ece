// Registry: the tasks and listeners registered with a signal.
#pragma once

#include <cstdint>
#include <heist/scheduler_task.hpp>
#include <heist/sync.hpp>

namespace heist {

// Roles   registrant: any thread (add).  walker: the one thread that aborts, or that delivers a
//         priority change. pruner: one thread at a time, whoever finds enough dead nodes.
// States  head_: list of registrations, newest first; `closed` after close().
//         gate_: who is inside (walking, pruning), and closed_list_left: the walker has gone and
//         left the closed list to the pruner inside.
// I1      Nodes are unlinked by the pruner only, never at the head, and only when dead; a dead node
//         never comes to life, so the walker loses nothing when it misses one.
// I2      An unlinked node keeps its `older` pointer and its memory until neither a walker nor a
//         pruner is inside: a walker standing on it still reaches every live node behind it. The
//         same holds for a closed list.
// I3      No pruner enters while a walker is inside. Of a walker and a pruner that are inside
//         together, the first to leave leaves its nodes to the other. Nodes are freed by who is
//         alone inside, before it takes its bit out of gate_: nobody else can enter the same role.
// Edge registry: add -> walk, close, prune. Carries the registration. add and the first load of a walk are
//         seq_cst: one half of D2 of SignalCore.
// Edge registry: close -> refuse. Carries the abort reason to who comes too late.
// Edge registry: unlink -> walk. Carries the shortened list (a walker may follow either pointer).
// Edge registry: leave -> leave, enter. Carries the unlinked and the closed nodes to who frees them,
//         and the finished list to the next to enter.
// Reclamation  the registry holds one share of each node; forget() drops it. A walker that keeps a
//              node beyond its walk takes a share of its own.
// Progress  add lock-free; walking and pruning never wait for anyone.
// Bound   dead <= live + 2 * prune_margin (ABT-5): a pruning is due when as many died as half of
//         those alive at the last one, and the margin; amortised O(1) for each.
// Proof   tests/concurrent/registry_test.cpp, stress/registry_stress.cpp, abort_post_stress.cpp,
//         listener_stress.cpp
class Registry {
 public:
  Registry() noexcept = default;
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;
  /// Precondition: no other user is left.
  ~Registry();

  /// Any thread. False: closed; the registration was not added.
  [[nodiscard]] bool add(Registration& registration) noexcept;

  /// Any thread: one more registration died. Prunes when that pays.
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
  void prune() noexcept;
  void unlink_dead() noexcept;
  void leave_prune() noexcept;
  void free_unlinked() noexcept;

  sync::atomic<Registration*> head_{nullptr};
  sync::atomic<std::uint32_t> dead_{0};
  sync::atomic<std::uint32_t> gate_{0};
  sync::atomic<std::uint32_t> prune_at_{prune_margin};
  Registration* unlinked_ = nullptr;     ///< the pruner's, or left by it to the walker inside
  Registration* closed_list_ = nullptr;  ///< the walker's, or left by it to the pruner inside
};

}  // namespace heist
