#include "signal_queues.hpp"

#include <heist/detail/scheduler_task.hpp>

namespace heist::detail {

void DropSignalQueueEntry::operator()(SignalQueueEntry* cell) const noexcept { cell->abandon(); }

}  // namespace heist::detail
