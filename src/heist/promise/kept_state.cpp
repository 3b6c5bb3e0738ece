#include <heist/detail/kept_state.hpp>
#include <optional>
#include <utility>

#include "../loop/loop_core.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

/// Whether tasks of `kept` run on `loop`.
bool is_home(const LoopCore& loop, const TaskHome* kept) noexcept {
  return &loop == kept || (kept != nullptr && loop.is_member_of(*kept));
}

}  // namespace

struct KeptScheduling {
  Ref<TaskHome> home;  ///< where the state was kept; it names a scheduler of this home, if any
  CapturedState state;
  LoopCore* entered = nullptr;  ///< the loop whose state enter() has replaced
  SchedulingState resumer;      ///< that loop's state before; it is borrowed
};

void discard(KeptScheduling& kept) noexcept { delete &kept; }

void KeptState::keep() {
  if (!kept_) kept_ = Owner<KeptScheduling>(new KeptScheduling());
  LoopCore* loop = current_loop();
  if (loop == nullptr) return;  // it keeps the state that it had before, if any
  // The state is copied first, because the old one may hold the last references to what is current.
  CapturedState state(loop->on_agent().current);
  TaskHome* home = loop;
  if (state.state().scheduler != nullptr) home = &state.state().scheduler->home;
  if (kept_->home.get() != home) kept_->home = Ref<TaskHome>::share(home);
  leave();
  kept_->state = std::move(state);
}

void KeptState::enter() noexcept {
  LoopCore* loop = current_loop();
  if (!kept_ || loop == nullptr) return;
  auto& agent = loop->on_agent();
  kept_->resumer = agent.current;
  kept_->entered = loop;
  const bool is_here = is_home(*loop, kept_->home.get());
  agent.change_current(is_here ? kept_->state.state() : SchedulingState());
}

void KeptState::replace(const SchedulingState& state) {
  if (!kept_) kept_ = Owner<KeptScheduling>(new KeptScheduling());
  LoopCore& loop = *current_loop();
  auto& agent = loop.on_agent();
  if (kept_->entered == nullptr) kept_->resumer = agent.current;
  kept_->entered = &loop;
  kept_->home = Ref<TaskHome>::share(&state.scheduler->home);
  const CapturedState before = std::exchange(kept_->state, CapturedState(state));
  agent.change_current(state);
}

SignalCore* KeptState::priority_source() const noexcept {
  return kept_ ? kept_->state.state().priority_source : nullptr;
}

bool KeptState::leave_entered() noexcept {
  LoopCore* loop = std::exchange(kept_->entered, nullptr);
  if (loop != nullptr) loop->on_agent().change_current(kept_->resumer);
  return loop != nullptr;
}

}  // namespace HEIST_NAMESPACE::detail
