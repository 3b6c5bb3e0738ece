#include "parallel_region.hpp"

#include <new>
#include <utility>

namespace HEIST_NAMESPACE::detail {

namespace {

/// A group whose tasks also run when the caller's own oneTBB context is cancelled. They have to run
/// because they are counted.
class Group {
 public:
  tbb::task_group& operator*() noexcept { return group_; }
  tbb::task_group* operator->() noexcept { return &group_; }

 private:
  tbb::task_group_context context_{tbb::task_group_context::isolated};
  tbb::task_group group_{context_};
};

}  // namespace

thread_local constinit ParallelRegion::Helper* ParallelRegion::innermost_helper = nullptr;

/// The scope in which the calling agent is a helper.
class ParallelRegion::Helping {
 public:
  explicit Helping(Helper& helper) noexcept : outer_(std::exchange(innermost_helper, &helper)) {}
  ~Helping() { innermost_helper = outer_; }
  Helping(const Helping&) = delete;
  Helping& operator=(const Helping&) = delete;

 private:
  Helper* outer_;
};

ParallelRegion::ParallelRegion(Helpers helpers)
    : helpers_(std::move(helpers)),
      agents_(helpers_.agents()),
      places_(helpers_.places()),
      arena_(static_cast<int>(places_), places_),
      waiting_(places_) {}

void ParallelRegion::run(ParallelWork& work, HelpedTask task, const ParallelPart& whole) {
  Call call{.work = work, .task = std::move(task)};
  call_ = &call;
  if (agents_ == 1 || whole.size() == 1) {
    run_part(whole);
  } else {
    arena_.execute([&] { run_all(whole); });
  }
  call_ = nullptr;
  if (!call.is_stopped.load(sync::relaxed)) return;  // relaxed: parts have been waited for.
  if (call.error) call.error.rethrow();
  call.task.throw_if_aborted();
}

void ParallelRegion::run_all(const ParallelPart& whole) {
  Group parts;
  parts_ = &*parts;
  run_part(whole);
  parts->wait();
  parts_ = nullptr;
}

// Parts.

void ParallelRegion::run_part(const ParallelPart& part) noexcept {
  if (is_stopped()) return;
  Reason thrown;
  try {
    call_->work.run(*this, part);
    return;
  } catch (...) {
    thrown = Reason::of_current_exception();
  }
  fail(std::move(thrown));
}

void ParallelRegion::fail(Reason error) noexcept {
  // relaxed: the caller reads the error behind its wait.
  if (!call_->is_stopped.exchange(true, sync::relaxed)) call_->error = std::move(error);
}

bool ParallelRegion::is_stopped() noexcept {
  if (call_->is_stopped.load(sync::relaxed)) return true;  // relaxed: seen in time.
  if (!call_->task.aborted()) return false;
  call_->is_stopped.store(true, sync::relaxed);  // relaxed: as above.
  return true;
}

bool ParallelRegion::wants_offer_of(const ParallelPart& part) const noexcept {
  if (parts_ == nullptr || part.size() <= part.step) return false;
  return count_.offers_approx() < (part.step == 1 ? agents_ - 1 : 1);
}

bool ParallelRegion::try_leave(const ParallelPart& part) {
  return is_stopped() || (wants_to_leave() && offer(part));
}

bool ParallelRegion::offer(const ParallelPart& part) {
  if (parts_ == nullptr) return false;
  const bool calls = count_.offer(agents_ - 1);
  try {
    parts_->run([this, part] { run_offered(part); });
  } catch (...) {
    if (calls) count_.call_off();
    take_offer();
    throw;
  }
  if (calls) call_helper(call_->task.priority());
  return true;
}

void ParallelRegion::run_offered(const ParallelPart& part) noexcept {
  take_offer();
  if (helper_here() == nullptr) return run_part(part);
  const HelpedTask::Scope scope(call_->task);
  run_part(part);
}

void ParallelRegion::take_offer() noexcept {
  if (!count_.take()) return;
  for (unsigned agent = 0; agent < places_; ++agent) let_go(agent);
}

// Helpers.

void ParallelRegion::call_helper(TaskPriority priority) noexcept {
  if (!try_call_helper(priority)) count_.call_off();
}

bool ParallelRegion::try_call_helper(TaskPriority priority) noexcept {
  try {
    return helpers_.call(priority, [region = shared_from_this()] { region->help(); });
  } catch (const std::bad_alloc&) {
    return false;  // then fewer helpers come
  }
}

void ParallelRegion::help() noexcept {
  if (!count_.try_enter()) return;
  Helper helper(*this);
  try {
    while (!helper.leaves) {
      take_parts(helper);
      if (count_.try_leave()) return;
    }
    count_.leave_called();  // what is offered is still to be taken
    call_helper(*helper.leaves);
  } catch (const std::bad_alloc&) {
    count_.leave_called();  // the other threads take what is offered
    count_.call_off();
  }
}

void ParallelRegion::take_parts(Helper& helper) {
  const Helping helping(helper);
  arena_.execute([&] {
    Group turn;
    const unsigned agent = Helpers::agent_here();
    helper.token = turn->defer([] {});
    waiting_.announce(agent, helper);
    if (!count_.has_offers()) let_go(agent);
    turn->wait();
  });
}

/// The helper may be gone as soon as its token is destroyed.
void ParallelRegion::let_go(unsigned agent) noexcept {
  Helper* helper = waiting_.let_go(agent);
  if (helper == nullptr) return;
  const tbb::task_handle token = std::move(helper->token);
}

ParallelRegion::Helper* ParallelRegion::helper_here() const noexcept {
  Helper* helper = innermost_helper;
  return helper != nullptr && &helper->region == this ? helper : nullptr;
}

bool ParallelRegion::wants_to_leave() noexcept {
  Helper* helper = helper_here();
  if (helper == nullptr) return false;
  if (!helper->leaves && !call_->task.may_help()) {
    helper->leaves = call_->task.priority();
    let_go(Helpers::agent_here());
  }
  return helper->leaves.has_value();
}

}  // namespace HEIST_NAMESPACE::detail
