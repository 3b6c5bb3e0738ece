// How a loop clears away what was aborted, and what it drops at its end.
#include <utility>
#include "loop_core.hpp"

namespace HEIST_NAMESPACE::detail {

void LoopCore::close_inbox() noexcept {
  arrivals_.close();
  close_aborts();
  release_signals();
}

void LoopCore::release_signals() noexcept {
  if (!aborted().has_released()) return;
  end_search();
  aborted().release_signals();
  note_leftovers();
}

void LoopCore::reap_for_a_while() noexcept {
  const auto clear = [this]() noexcept {
    assert_agent();
    reap_some();
    return !aborted().empty();
  };
  if (clear()) on_agent().clearing.go_on(time(), clear);
}

void LoopCore::reap_some() noexcept {
  end_search();
  aborted().reap_some(abort_messages(), *this);
  forget_look();  // a destructor may have looked, but not for the task that comes next
}

void LoopCore::clear_aborted(const PromiseStateBase& awaited) noexcept {
  const SchedulingState outer = on_agent().current;
  on_agent().change_current({});
  if (is_closed()) closing_.drop_left();
  bool has_more = false;
  do {
    take_inbox();
    drop_ends();
    has_more = membership_ != nullptr && membership_->collect_aborted();
    aborted().reap_some(abort_messages(), *this);
  } while (!awaited.is_settled() && (has_more || !aborted().empty()));
  on_agent().change_current(outer);
}

/// The ends go to the front first. Each drop runs users' code, which may come here again, and then
/// finds the rest there.
void LoopCore::drop_ends() noexcept {
  MicrotaskQueue& all = on_agent().microtasks;
  MicrotaskQueue ends;
  MicrotaskQueue others;
  while (!all.empty()) {
    auto& reaction = static_cast<Reaction&>(all.pop());
    (reaction.ends_at_once ? ends : others).push(reaction);
  }
  while (!ends.empty()) all.push(ends.pop());
  while (!others.empty()) all.push(others.pop());
  while (!all.empty() && static_cast<Reaction&>(all.front()).ends_at_once) {
    LoopNode& end = all.pop();
    end.ops->drop(end);
  }
}

/// Takes an aborted task back from where it waits, and disposes of it. Returns false when it has
/// not arrived yet, or was disposed of already.
bool LoopCore::reap(ControlledTask& task) noexcept {
  return on_agent().withdraw(task) && dispose(task);
}

}  // namespace HEIST_NAMESPACE::detail
