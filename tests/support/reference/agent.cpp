#include "support/reference/agent.hpp"

#include <utility>

namespace heist::reference {

void Agent::queue_microtask(const SchedulingState& captured, Job job) {
  microtasks_.push_back({captured, std::move(job)});
}

void Agent::perform_microtask_checkpoint() {
  if (in_checkpoint_) return;
  in_checkpoint_ = true;
  while (!microtasks_.empty()) {
    const Microtask next = std::move(microtasks_.front());
    microtasks_.pop_front();
    current_state_ = next.state;
    next.job();
    current_state_ = {};
  }
  in_checkpoint_ = false;
}

void Agent::invoke(const Job& callback) {
  const bool is_outermost = callbacks_ == 0 && !in_checkpoint_;
  ++callbacks_;
  callback();
  --callbacks_;
  if (is_outermost) perform_microtask_checkpoint();
}

}  // namespace heist::reference
