#include "lent_priority.hpp"

#include <algorithm>
#include <heist/detail/node_memory.hpp>
#include <utility>

#include "../task/scheduler_core.hpp"
#include "dependent_signal.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

/// What a lender of this level adds to the count. Nobody need count the lowest level.
constexpr std::int64_t unit_of(TaskPriority level) noexcept {
  switch (level) {
    case TaskPriority::background:
      return 0;
    case TaskPriority::user_visible:
      return 1;
    case TaskPriority::user_blocking:
      break;
  }
  return std::int64_t{1} << 32;
}

}  // namespace

void retain(LentPriority& lent) noexcept { retain(static_cast<SignalCore&>(lent)); }
void release(LentPriority& lent) noexcept { release(static_cast<SignalCore&>(lent)); }

/// Tells its owner when the priority of the base changes.
class LentPriority::BaseListener final : public Listener {
 public:
  explicit BaseListener(LentPriority& owner) noexcept
      : Listener(&call, &discard, &destroy), owner_(owner) {}

 private:
  static BaseListener& of(Listener& listener) noexcept {
    return static_cast<BaseListener&>(listener);
  }
  static void call(Listener& listener, SignalEvent& /*event*/) {
    LentPriority& owner = of(listener).owner_;
    if (!owner.try_retain()) return;
    owner.spread();
    release(owner);
  }
  static void discard(Listener& listener) noexcept { of(listener).owner_.drop_memory(); }
  static void destroy(Listener& listener) noexcept { destroy_node(of(listener)); }

  LentPriority& owner_;
};

LentPriority::LentPriority(TaskPriority base, TaskPriority ceiling,
                           SignalCore* base_source) noexcept
    : SignalCore(SignalForm::lent, PriorityKind::own, sizeof(SignalCore)),
      own_(PriorityKind::own, base),
      base_(base),
      ceiling_(ceiling),
      base_source_(Ref<SignalCore>::share(base_source)) {}

Ref<LentPriority> LentPriority::make_for_lock() {
  return Ref<LentPriority>::adopt(
      make_node<LentPriority>(TaskPriority::background, TaskPriority::user_blocking, nullptr));
}

Ref<LentPriority> LentPriority::make(const SchedulingState& state) {
  auto made = Ref<LentPriority>::adopt(
      make_node<LentPriority>(state.priority, state.scheduler->ceiling, state.priority_source));
  if (state.priority_source != nullptr) made->follow_base();
  return made;
}

LentPriority* LentPriority::of(SignalCore* source) noexcept {
  if (source == nullptr) return nullptr;
  if (source->follows_priority()) source = &DependentSignal::priority_root(*source);
  return source->is_lent() ? static_cast<LentPriority*>(source) : nullptr;
}

bool LentPriority::has_base_of(const SchedulingState& state) const noexcept {
  return base_source_.get() == state.priority_source && base_ == state.priority &&
         ceiling_ == state.scheduler->ceiling;
}

/// Whoever changes the base later finds the listener; a change before is read here (D2).
void LentPriority::follow_base() {
  listener_ = make_node<BaseListener>(*this);
  memory_.add();
  static_cast<void>(base_source_->add_listener(*listener_, SignalEventKind::priority_change));
  spread();
}

void LentPriority::end_lent() noexcept {
  if (Listener* listener = std::exchange(listener_, nullptr)) {
    if (listener->withdraw()) {
      base_source_->note_dead_listener(SignalEventKind::priority_change);
    }
    release(*listener);
  }
  drop_contents();
  base_source_.reset();
  drop_memory();
}

void LentPriority::drop_memory() noexcept {
  if (memory_.drop()) destroy_node(*this);
}

// The level.

TaskPriority LentPriority::base_now() noexcept {
  return base_source_ ? base_source_->scheduling_priority() : base_;
}

TaskPriority LentPriority::highest_in(std::int64_t lent) noexcept {
  const auto visible = static_cast<std::int32_t>(lent);
  if (lent - visible > 0) return TaskPriority::user_blocking;
  return visible > 0 ? TaskPriority::user_visible : TaskPriority::background;
}

TaskPriority LentPriority::level() noexcept {
  const auto lent = highest_in(lent_.load(sync::edge("lend:count", sync::seq_cst)));
  return std::min<TaskPriority>(std::max(base_now(), lent), ceiling_);
}

void LentPriority::count(TaskPriority before, TaskPriority now) noexcept {
  lent_.fetch_add(unit_of(now) - unit_of(before), sync::edge("lend:count", sync::seq_cst));
}

void LentPriority::lend(TaskPriority before, TaskPriority now) noexcept {
  if (before == now) return;
  count(before, now);
  spread();
}

// What follows a change.

void LentPriority::spread() noexcept {
  unsigned changes = most_changes;
  spread(longest_chain, changes);
}

void LentPriority::spread(unsigned depth, unsigned& changes) noexcept {
  show();
  while (const auto target = change_target()) {
    if (depth == 0 || changes == 0) return;
    --changes;
    target->spread(depth - 1, changes);
  }
}

/// Makes the level the priority that picks use. Of several threads the last one to store sees, and
/// stores, the last level.
void LentPriority::show() noexcept {
  for (TaskPriority now = level(); own_.show(*this, now);) {
    const TaskPriority later = level();
    if (later == now) return;
    now = later;
  }
}

LentPriority* LentPriority::target_in(Word link) noexcept {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the rest of the word was added to the address
  return reinterpret_cast<LentPriority*>(link & target_mask);
}

/// If the level differs from what is lent by the link, changes that. Returns the target then.
Ref<LentPriority> LentPriority::change_target() noexcept {
  Word link = out_.load(sync::edge("lend:look", sync::seq_cst));
  for (;;) {
    LentPriority* const target = target_in(link);
    const TaskPriority now = level();
    if (target == nullptr || level_in(link) == now || borrowed_in(link) == most_borrowed) return {};
    const Word next = ((link & ~level_mask) | static_cast<Word>(now)) + one_borrowed;
    if (!out_.compare_exchange_weak(link, next, sync::edge("lend:look", sync::seq_cst),
                                    sync::edge("lend:look", sync::seq_cst))) {
      continue;
    }
    auto borrowed = Ref<LentPriority>::adopt(target);
    if (borrowed_in(next) == most_borrowed) give_more(*target, next);
    target->count(level_in(link), now);
    return borrowed;
  }
}

/// Called with a share of the target, when the link has no more to give away (I3).
void LentPriority::give_more(LentPriority& target, Word full) noexcept {
  target.add_shares(most_borrowed);
  const Word refilled = full - Word{most_borrowed} * one_borrowed;
  if (!out_.compare_exchange_strong(full, refilled, sync::edge("lend:look", sync::seq_cst),
                                    sync::relaxed)) {  // relaxed: the link has ended.
    target.drop_shares(most_borrowed);
  }
}

// The link.

bool LentPriority::try_link(LentPriority& target) noexcept {
  target.add_shares(bias);
  Word none = 0;
  if (!out_.compare_exchange_strong(none, reinterpret_cast<Word>(&target),
                                    sync::edge("lend:look", sync::seq_cst),
                                    sync::relaxed)) {  // relaxed: nothing is read then.
    target.drop_shares(bias);
    return false;
  }
  spread();
  return true;
}

Ref<LentPriority> LentPriority::unlink() noexcept {
  const Word link = out_.exchange(0, sync::edge("lend:look", sync::seq_cst));
  LentPriority* const target = target_in(link);
  if (target == nullptr) return {};
  auto kept = Ref<LentPriority>::share(target);
  target->drop_shares(bias - borrowed_in(link));
  target->lend(level_in(link), TaskPriority::background);
  return kept;
}

}  // namespace HEIST_NAMESPACE::detail
