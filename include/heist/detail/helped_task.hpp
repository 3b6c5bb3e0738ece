// HelpedTask, Helpers: a running task, and the agents of its cluster that may take part in it.
#pragma once

#include <heist/detail/export.hpp>
#include <heist/detail/forward.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/posted_task.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/scheduling_state.hpp>
#include <heist/priority.hpp>
#include <heist/version.hpp>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// The agents that may take part in what runs on the calling thread: who helps with a loop of
/// heist/parallel.hpp.
///
/// Thread: any.   Cost: a reference.
class HEIST_EXPORT Helpers {
 public:
  /// Those of the calling thread's cluster; off a cluster nobody.
  Helpers() noexcept;

  /// How many agents may take part, the calling one included; one: nobody else.
  [[nodiscard]] unsigned agents() const noexcept;
  /// The same with the reserves, which take the places of agents that are in blocking().
  [[nodiscard]] unsigned places() const noexcept;
  /// Posts `help`, to be called on any of the agents: as a continuation, so that what was begun
  /// goes before tasks of the same priority that were not.
  ///
  /// Precondition: agents() > 1.   Errors: std::bad_alloc. Returns false when the cluster is
  ///               closed; `help` is
  ///         gone.
  template <class Callback>
  bool call(TaskPriority priority, Callback&& help) const {
    return post(priority,
                *make_node<PlainTask<std::decay_t<Callback>>>(std::forward<Callback>(help)));
  }
  /// A helper: which agent it is, of places().
  [[nodiscard]] static unsigned agent_here() noexcept;

  friend bool operator==(const Helpers&, const Helpers&) noexcept = default;

 private:
  bool post(TaskPriority priority, SchedulerTask& helper) const noexcept;

  Ref<ClusterCore> cluster_;  ///< null: nobody helps
};

/// What runs on the calling thread as it was when this object was made, for those who help it. For
/// the library.
///
/// Thread:   may_help() and Scope: a helper; the rest any.
/// Lifetime: owns the task's signals.
class HEIST_EXPORT HelpedTask {
 public:
  /// Off any agent nothing aborts it.   Errors: std::bad_alloc.
  HelpedTask();

  [[nodiscard]] bool aborted() const noexcept;
  void throw_if_aborted() const;
  [[nodiscard]] TaskPriority priority() const noexcept;
  /// A helper, from time to time: false when its agent has something more urgent to do, or has to
  /// look.
  ///
  /// Cost: some loads; with an armed delay, one look at the clock.
  [[nodiscard]] bool may_help() const noexcept;

  /// A helper: has the task's scheduling state meanwhile.
  class Scope {
   public:
    explicit Scope(const HelpedTask& task) noexcept;
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    SchedulingState outer_;
  };

 private:
  CapturedState captured_;
};

}  // namespace HEIST_NAMESPACE::detail
