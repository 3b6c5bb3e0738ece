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

/// The agents that may help with what runs on the calling thread, such as a loop of
/// heist/parallel.hpp.
///
/// Thread: any.   Cost: a reference.
class HEIST_EXPORT Helpers {
 public:
  /// The agents of the calling thread's cluster. On a thread of no cluster there are none.
  Helpers() noexcept;

  /// How many agents may take part, the calling one included. One means that nobody else may.
  [[nodiscard]] unsigned agents() const noexcept;
  /// As agents(), plus the reserves, which work in place of agents that are in blocking().
  [[nodiscard]] unsigned places() const noexcept;
  /// Posts `help`, to be called on any of the agents. It is posted as a continuation, so that work
  /// that has begun runs before tasks of the same priority that have not.
  ///
  /// Precondition: agents() > 1.   Errors: std::bad_alloc. Returns false when the cluster is
  /// closed; `help` is then destroyed.
  template <class Callback>
  bool call(TaskPriority priority, Callback&& help) const {
    return post(priority,
                *make_node<PlainTask<std::decay_t<Callback>>>(std::forward<Callback>(help)));
  }
  /// For a helper: the index of its agent, below places().
  [[nodiscard]] static unsigned agent_here() noexcept;

  friend bool operator==(const Helpers&, const Helpers&) noexcept = default;

 private:
  bool post(TaskPriority priority, SchedulerTask& helper) const noexcept;

  Ref<ClusterCore> cluster_;  ///< null: nobody helps
};

/// What ran on the calling thread when this object was made, for the agents that help with it. Only
/// the library uses it.
///
/// Thread:   may_help() and Scope: a helper; the rest any.
/// Lifetime: owns the task's signals.
class HEIST_EXPORT HelpedTask {
 public:
  /// On a thread without an agent nothing aborts it.   Errors: std::bad_alloc.
  HelpedTask();

  [[nodiscard]] bool aborted() const noexcept;
  void throw_if_aborted() const;
  [[nodiscard]] TaskPriority priority() const noexcept;
  /// To be called by a helper from time to time. Returns false when its agent has something more
  /// urgent to do, or has to look whether it has.
  ///
  /// Cost: some loads; with an armed delay, one look at the clock.
  [[nodiscard]] bool may_help() const noexcept;

  /// Gives a helper the task's scheduling state while it lives.
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
