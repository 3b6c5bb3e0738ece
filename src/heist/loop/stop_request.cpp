#include "stop_request.hpp"

#include "loop_core.hpp"

namespace HEIST_NAMESPACE::detail {

const MessageOps StopRequest::Message::table{&ignore, &take};

void StopRequest::Message::take(LoopNode& node, TaskHome& /*home*/) noexcept {
  StopRequest& request = static_cast<Message&>(node).request;
  request.is_due_ = request.is_message_here_ = true;
}

void StopRequest::send() noexcept {
  if (!is_sent_.exchange(true, sync::edge("stop:send", sync::acq_rel))) loop_.send(message_);
}

/// Whoever did not send the message since, as it was under way, asked before this.
void StopRequest::free_message() noexcept {
  is_message_here_ = false;
  is_sent_.exchange(false, sync::edge("stop:take", sync::acq_rel));
}

}  // namespace HEIST_NAMESPACE::detail
