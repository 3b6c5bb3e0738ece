#include "aborted_tasks.hpp"

#include <utility>

#include "task_home.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

/// What one pick clears away at most, because other tasks wait (ABT-4): how many callbacks it
/// destroys, at how many aborted tasks it looks, and at how many messages that name such tasks.
constexpr unsigned reap_portion = 32;
constexpr unsigned looked_at_portion = 256;
constexpr unsigned message_portion = 64;

}  // namespace

void AbortedTasks::take_messages(Inbox& from, TaskHome& home, unsigned most) noexcept {
  while (may_have_messages_ && most-- > 0) {
    if (messages_ == nullptr) messages_ = from.take_newest_first();
    if (messages_ != nullptr) {
      take_message(*std::exchange(messages_, messages_->next), home);
    } else if (from.try_sleep()) {
      may_have_messages_ = false;
    }
  }
}

void AbortedTasks::close_messages(Inbox& from, TaskHome& home) noexcept {
  LoopNode* rest = from.close();
  for (LoopNode* list : {std::exchange(messages_, nullptr), rest}) {
    while (list != nullptr) take_message(*std::exchange(list, list->next), home);
  }
  may_have_messages_ = false;
}

void AbortedTasks::append_chain(SignalLeftovers& from) noexcept {
  SignalLinks* const last = from.last_of_chain();
  SignalLinks* const first = from.take_chain();
  if (chain_ == nullptr) {
    chain_ = first;
  } else {
    chain_tail_->chain = first;
  }
  chain_tail_ = last;
}

void AbortedTasks::reap_some(Inbox& messages, TaskHome& home) noexcept {
  take_messages(messages, home, message_portion);
  unsigned callbacks = 0;
  for (unsigned looks = 0; callbacks < reap_portion && looks < looked_at_portion; ++looks) {
    const Reaped reaped = reap_one();
    if (reaped == Reaped::none) return;
    if (reaped == Reaped::callback) ++callbacks;
  }
}

void AbortedTasks::reap_all() noexcept {
  while (reap_one() != Reaped::none) {
  }
}

AbortedTasks::Reaped AbortedTasks::reap_one() noexcept {
  if (chain_ == nullptr) return reap_discarded();
  ControlledTask& task = chain_->task;
  chain_ = static_cast<SignalLinks*>(chain_->chain);
  const bool had_callback = task.scheduler->home.reap(task);
  task.task_ops().release_share(task);  // the aborter's share
  return had_callback ? Reaped::callback : Reaped::memory;
}

AbortedTasks::Reaped AbortedTasks::reap_discarded() noexcept {
  SchedulerTask* const task = discarded_.front();
  if (task == nullptr) return Reaped::none;
  discarded_.pop_front();
  return dispose(ControlledTask::of(*task)) ? Reaped::callback : Reaped::memory;
}

void AbortedTasks::release_later(SignalLeftovers& of) noexcept {
  if (of.references++ != 0) return;
  of.next = std::exchange(released_, &of);
}

/// The caller has taken the inbox before. So what was posted until then has its enqueue order
/// already, and stands before what these destructors post.
void AbortedTasks::release_signals() noexcept {
  SignalLeftovers* left = std::exchange(released_, nullptr);
  while (left != nullptr) {
    SignalLeftovers* next = left->next;
    SignalCore& signal = *left->signal;
    for (int count = std::exchange(left->references, 0); count > 0; --count) release(signal);
    left = next;
  }
}

SignalLinks* AbortedTasks::last_of_portion(SignalLinks* last) const noexcept {
  SignalLinks* at = chain_;
  for (unsigned left = reap_portion; at != last && --left > 0;)
    at = static_cast<SignalLinks*>(at->chain);
  return at;
}

void AbortedTasks::pass_chain_to(AbortedTasks& to, SignalLinks& last) noexcept {
  auto* const rest = static_cast<SignalLinks*>(last.chain);
  last.chain = std::exchange(to.chain_, std::exchange(chain_, rest));
  if (last.chain == nullptr) to.chain_tail_ = &last;
}

void AbortedTasks::pass_rest_to(AbortedTasks& to) noexcept {
  while (SchedulerTask* task = discarded_.front()) {
    discarded_.pop_front();
    to.discarded_.push_back(*task);
  }
  while (SignalLeftovers* left = released_) {
    released_ = std::exchange(left->next, to.released_);
    to.released_ = left;
  }
}

}  // namespace HEIST_NAMESPACE::detail
