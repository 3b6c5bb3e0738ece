#include <heist/detail/lent_lock.hpp>
#include <new>
#include <utility>

#include "../loop/loop_core.hpp"
#include "../signal/continuation.hpp"
#include "../signal/lent_priority.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

/// Whether nothing that is lent could raise a coroutine of this state.
bool is_at_the_top(const SchedulingState& state) noexcept {
  return state.priority_source == nullptr && state.priority == TaskPriority::user_blocking;
}

/// If what runs here follows `lent` and holds no lock any more, it follows its base again.
void restore_base_here(const LentPriority& lent) noexcept {
  LoopCore* const loop = current_loop();
  if (loop == nullptr || lent.is_holding()) return;
  auto& agent = loop->on_agent();
  if (agent.current.priority_source != &lent) return;
  SchedulingState base = agent.current;
  lent.restore_base(base);
  agent.change_current(base);  // what owned the lent priority here owns the base as well
}

/// The LentPriority that a coroutine with this state has or had, or else a new one.
Ref<LentPriority> lent_priority_for(const SchedulingState& state, const KeptState& kept) {
  if (auto* lent = LentPriority::of(state.priority_source)) return Ref<LentPriority>::share(lent);
  auto* before = LentPriority::of(kept.priority_source());
  if (before != nullptr && before->has_base_of(state)) return Ref<LentPriority>::share(before);
  return LentPriority::make(state);
}

}  // namespace

void Lender::enter(KeptState* kept) noexcept {
  LoopCore* const loop = current_loop();
  const SchedulingState state = loop != nullptr ? loop->on_agent().current : SchedulingState();
  level_ = priority_now(state);
  if (kept == nullptr || state.scheduler == nullptr || is_at_the_top(state)) return;
  try {
    lent_ = lent_priority_for(state, *kept);
    SchedulingState lent = state;
    lent.priority_source = lent_.get();
    if (state.priority_source != lent_.get()) kept->replace(lent);
  } catch (const std::bad_alloc&) {
    lent_.reset();
  }
}

void Lender::leave() noexcept {
  if (lent_) restore_base_here(*lent_);
}

/// If the coroutine lends already, because it shares its state with one that waits, what it lends
/// here is its level of now.
void Lender::lend_to(LentPriority& target) noexcept {
  waits_ = true;
  is_linked_ = lent_ && lent_->try_link(target);
  if (is_linked_) return;
  if (lent_) level_ = lent_->level();
  target.lend(TaskPriority::background, level_);
}

void Lender::take_back_from(LentPriority& target) noexcept {
  if (!std::exchange(waits_, false)) return;
  if (!std::exchange(is_linked_, false)) return target.lend(level_, TaskPriority::background);
  static_cast<void>(lent_->unlink());
}

LentLock::LentLock() : lent_(LentPriority::make_for_lock()) {}

LentLock::~LentLock() { let_go(); }

void LentLock::wait(Lender& lender) noexcept { lender.lend_to(*lent_); }

void LentLock::stop_waiting(Lender& lender) noexcept { lender.take_back_from(*lent_); }

void LentLock::hold(const Lender& lender) noexcept {
  if (!lender.lent_) return;
  lender.lent_->note_hold();
  static_cast<void>(lent_->try_link(*lender.lent_));
}

void LentLock::let_go() noexcept {
  const auto holder = lent_->unlink();
  if (!holder) return;
  holder->note_release();
  restore_base_here(*holder);
}

}  // namespace HEIST_NAMESPACE::detail
