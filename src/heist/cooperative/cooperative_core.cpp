// This file has what any thread asks of a cooperative scheduler, and how that comes to the host.
#include "cooperative_core.hpp"

#include <heist/detail/node_memory.hpp>
#include <utility>

#include "loop_host.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

constexpr Milliseconds time_to_expiry(CooperativePriority priority) noexcept {
  switch (priority) {
    case CooperativePriority::immediate:
      return Milliseconds(-1);
    case CooperativePriority::user_blocking:
      return Milliseconds(250);
    case CooperativePriority::normal:
      break;
    case CooperativePriority::low:
      return Milliseconds(10'000);
    case CooperativePriority::idle:
      return Milliseconds(1'073'741'823);
  }
  return Milliseconds(5'000);
}

}  // namespace

// Shares.

void retain(CooperativeCore& core) noexcept { core.shares_.add(); }

void release(CooperativeCore& core) noexcept {
  if (core.shares_.drop()) delete &core;
}

void retain(CooperativeTaskNode& task) noexcept { task.shares.add(); }

void release(CooperativeTaskNode& task) noexcept {
  if (task.shares.drop_or_be_last()) destroy_node(task);
}

Ref<CooperativeCore> CooperativeCore::make(LoopCore& loop) {
  auto host = std::make_unique<LoopHost>(loop);
  LoopHost& own = *host;
  auto core = Ref<CooperativeCore>::adopt(new CooperativeCore(std::move(host), &own));
  own.serve(*core);
  return core;
}

Ref<CooperativeCore> CooperativeCore::make(CooperativeHost& host) {
  return Ref<CooperativeCore>::adopt(new CooperativeCore(nullptr, &host));
}

CooperativeCore::CooperativeCore(std::unique_ptr<LoopHost> own, CooperativeHost* host)
    : own_(std::move(own)), host_(*host), clock_(host_) {}

/// Nothing of this core is under way any more, because messages and timeouts hold shares of it.
CooperativeCore::~CooperativeCore() {
  closed_ = true;
  drop_all();
}

// Any thread.

bool CooperativeCore::is_here() const noexcept {
  return own_ == nullptr || loop_of_this_thread == &own_->loop();
}

/// Called on the host's thread.
bool CooperativeCore::host_accepts() const noexcept {
  return own_ == nullptr || own_->accepts_tasks();
}

/// The sum is rounded to what the loop's clock can show. Otherwise it could lie behind the tick
/// that it means.
Milliseconds CooperativeCore::start_after(Milliseconds now, Milliseconds delay) const noexcept {
  return own_ != nullptr ? LoopHost::rounded(now + delay) : now + delay;
}

bool CooperativeCore::schedule(CooperativeTaskNode& task, Milliseconds delay) noexcept {
  const bool is_here_now = is_here();
  const auto kept = is_here_now ? take_messages() : Ref<CooperativeCore>();
  const Milliseconds now = host_.now();
  task.is_delayed = delay > Milliseconds::zero();
  task.start = task.is_delayed ? start_after(now, delay) : now;
  task.is_delayed = task.start > now;
  task.expiration = task.start + time_to_expiry(task.priority);
  if (!is_here_now) return send(task, &LoopCore::post_as_task);
  if (closed_ || !host_accepts()) return false;
  insert(task, now);
  return true;
}

/// The callback is destroyed last, because its destructor may do anything. (What take_messages()
/// destroys may drop the handle, too.)
void CooperativeCore::cancel_here(CooperativeTaskNode& task) noexcept {
  const auto kept_task = Ref<CooperativeTaskNode>::share(&task);
  const auto kept = take_messages();
  forget_delayed(task);
  drop_callback(task);
}

void CooperativeCore::cancel(CooperativeTaskNode& task) noexcept {
  if (is_here()) return cancel_here(task);
  // relaxed: a second caller relies only on the flag; the message is there to destroy the callback.
  if (task.is_cancelled.exchange(true, sync::relaxed)) return;
  retain(task);
  if (!send(task.make_cancellation(), &LoopCore::post_node)) release(task);
}

bool CooperativeCore::send(LoopNode& message, Post post) noexcept {
  retain(*this);
  if ((own_->loop().*post)(message)) return true;
  release(*this);
  return false;
}

// Messages. They run no users' code.

CooperativeTaskNode::Cancellation::Cancellation(CooperativeTaskNode& of) noexcept
    : LoopNode(table), task(of) {}

const MessageOps CooperativeTaskNode::Cancellation::table{&CooperativeCore::drop_cancellation,
                                                          &CooperativeCore::arrive_to_cancel};

const MessageOps CooperativeTaskNode::table{&CooperativeCore::drop_message,
                                            &CooperativeCore::arrive};

CooperativeTaskNode::CooperativeTaskNode(CooperativeCore& of, CooperativePriority level,
                                         CooperativeCallback&& what) noexcept
    : LoopNode(table), priority(level), callback(std::move(what)), core(of) {}

void CooperativeCore::arrive(LoopNode& message, TaskHome& /*home*/) noexcept {
  auto& task = static_cast<CooperativeTaskNode&>(message);
  const auto core = Ref<CooperativeCore>::adopt(&task.core);
  if (core->closed_) task.is_delayed = false;  // the next message of the host drops it
  core->insert(task, core->host_.now());
}

void CooperativeCore::arrive_to_cancel(LoopNode& message, TaskHome& /*home*/) noexcept {
  auto& task = static_cast<CooperativeTaskNode::Cancellation&>(message).task;
  const auto core = Ref<CooperativeCore>::adopt(&task.core);
  message.next = std::exchange(core->cancelled_, &message);  // with the message's share of the task
  core->request_message();
}

/// Called when the loop is closed.
void CooperativeCore::drop_message(LoopNode& message) noexcept {
  auto& task = static_cast<CooperativeTaskNode&>(message);
  const auto core = Ref<CooperativeCore>::adopt(&task.core);
  drop(task);
}

void CooperativeCore::drop_cancellation(LoopNode& message) noexcept {
  auto& task = static_cast<CooperativeTaskNode::Cancellation&>(message).task;
  const auto core = Ref<CooperativeCore>::adopt(&task.core);
  release(task);
}

}  // namespace HEIST_NAMESPACE::detail
