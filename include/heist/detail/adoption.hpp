// Adoption: a promise that follows another one.
#pragma once

#include <heist/detail/access.hpp>
#include <heist/detail/promise_state.hpp>
#include <heist/detail/promise_traits.hpp>
#include <heist/version.hpp>
#include <optional>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// Who a promise is adopted for, and what it wants done before and after.
template <class T>
struct Adopter {
  PromiseState<T>* target;
  /// Whether the source settles the target. If not, an abort has settled it, and the source is only
  /// waited for.
  bool decides;
  /// Destroys the callback, before the target settles.
  void (*discard_callback)(PromiseState<T>&) noexcept;
  /// Called last, when the adoption no longer needs its memory.
  void (*done)(PromiseState<T>&) noexcept;
};

/// Makes a target settle as a source does. On a loop, one microtask attaches to the source, and its
/// reaction settles the target: two microtasks at the least, as the specification's promise
/// resolution takes. In a cluster it attaches at once, and whichever agent is free settles the
/// target: the one that began the task may be waiting for just that.
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
  /// It may be gone afterwards.
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
