#include "signal_queues.hpp"

#include <heist/detail/scheduler_task.hpp>

namespace heist::detail {

void discard(SignalQueueEntry& entry) noexcept { entry.abandon(); }

}  // namespace heist::detail
