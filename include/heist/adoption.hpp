// Adoption: a promise that follows another one (FORMAT.md 3.4).
#pragma once

#include <heist/promise_handle.hpp>
#include <optional>
#include <utility>

namespace heist {

/// Makes `target` settle as `source` does. One microtask attaches to the source, its reaction
/// settles the target: two microtasks at the least, as the specification's promise resolution
/// takes.
///
/// The node is first the microtask, then the reaction. Agent only.
template <class T>
class Adoption : private Reaction {
 public:
  /// `done` is called last, when the adoption no longer needs its memory.
  /// `decides`: the target is settled here; otherwise an abort settles it, and the source is only
  /// waited for.
  Adoption(PromiseState<T>& target, bool decides, void (*done)(PromiseState<T>&) noexcept) noexcept
      : Reaction(attach_table), target_(&target), done_(done), decides_(decides) {}

  void start(Promise<T> source) {
    source_.emplace(std::move(source));
    bind_to_current_loop();
    deliver(*this);
  }

 private:
  static Adoption& of(LoopNode& node) noexcept {
    return static_cast<Adoption&>(static_cast<Reaction&>(node));
  }
  static void attach_to_source(LoopNode& node, LoopCore& /*loop*/) noexcept {
    auto& self = of(node);
    self.ops = &settle_table;
    self.bind_to_current_loop();
    self.source_->state().attach(self);
  }
  static void settle_target(LoopNode& node, LoopCore& /*loop*/) noexcept {
    auto& self = of(node);
    if (self.decides_) settle_as(*self.target_, self.source_->state());
    self.finish();
  }
  static void abandon(LoopNode& node) noexcept {
    auto& self = of(node);
    if (self.decides_) {
      self.target_->settle_rejected(loop_closed_reason(), true);
    }
    self.finish();
  }
  void finish() noexcept {
    source_.reset();
    done_(*target_);
  }
  static constexpr LoopNodeOps attach_table{LoopNodeKind::microtask, &attach_to_source, &abandon};
  static constexpr LoopNodeOps settle_table{LoopNodeKind::microtask, &settle_target, &abandon};

  std::optional<Promise<T>> source_;
  PromiseState<T>* target_;
  void (*done_)(PromiseState<T>&) noexcept;
  bool decides_;
};

}  // namespace heist
