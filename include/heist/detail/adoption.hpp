// Adoption: a promise that follows another one.
#pragma once

#include <heist/detail/access.hpp>
#include <heist/detail/promise_state.hpp>
#include <heist/detail/promise_traits.hpp>
#include <heist/version.hpp>
#include <optional>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// The promise that adopts another one's outcome, and what is to be called before and after.
template <class T>
struct Adopter {
  PromiseState<T>* target;
  /// Whether the source settles the target. If it does not, an abort has settled the target, and
  /// the adoption only waits for the source.
  bool decides;
  /// Destroys the callback, before the target settles.
  void (*discard_callback)(PromiseState<T>&) noexcept;
  /// Called last, when the adoption no longer needs its memory.
  void (*done)(PromiseState<T>&) noexcept;
};

/// Makes a target settle as a source does. On a loop, one microtask attaches to the source, and its
/// reaction settles the target. This takes at least two microtasks, as many as promise resolution
/// takes in the specification. In a cluster the adoption attaches at once, and whichever agent is
/// free settles the target, because the agent that began the task may be waiting for exactly that.
///
/// The node is first the microtask, then the reaction. Agent only.
template <class T>
class Adoption : private Reaction {
 public:
  explicit Adoption(const Adopter<T>& adopter) noexcept
      : Reaction(attach_table), adopter_(adopter) {}

  void start(Promise<T> source) {
    if (!source.valid()) return end(moved_from_reason());
    if (&Access::state(source) == adopter_.target) return end(follows_itself_reason());
    source_.emplace(std::move(source));
    if (bind_to_cluster_of(*adopter_.target)) return follow_in_cluster();
    bind_to_current_loop();
    deliver(*this);
  }

 private:
  static Adoption& of(LoopNode& node) noexcept {
    return static_cast<Adoption&>(static_cast<Reaction&>(node));
  }
  static void attach_to_source(LoopNode& node, LoopCore& /*loop*/) noexcept {
    auto& self = of(node);
    self.bind_to_current_loop();
    self.follow();
  }
  static void settle_target(LoopNode& node, LoopCore& /*loop*/) noexcept { of(node).settle(); }
  static void drop(LoopNode& node) noexcept { of(node).end(loop_closed_reason()); }

  void follow_in_cluster() noexcept { source_->settled() ? settle() : follow(); }
  /// The adoption may be gone afterwards.
  void follow() noexcept {
    ops = &settle_table;
    Access::state(*source_).attach(*this);
  }
  void settle() noexcept {
    adopter_.discard_callback(*adopter_.target);
    if (adopter_.decides) settle_as(*adopter_.target, Access::state(*source_));
    finish();
  }
  void end(const Reason& reason) noexcept {
    adopter_.discard_callback(*adopter_.target);
    if (adopter_.decides) adopter_.target->settle_rejected(reason, true);
    finish();
  }
  void finish() noexcept {
    source_.reset();
    adopter_.done(*adopter_.target);
  }
  static constexpr LoopNodeOps attach_table{LoopNodeKind::microtask, &attach_to_source, &drop};
  static constexpr LoopNodeOps settle_table{LoopNodeKind::microtask, &settle_target, &drop};

  std::optional<Promise<T>> source_;
  Adopter<T> adopter_;
};

}  // namespace HEIST_NAMESPACE::detail
