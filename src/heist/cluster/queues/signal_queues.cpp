#include "signal_queues.hpp"

#include <heist/detail/scheduler_task.hpp>

namespace HEIST_NAMESPACE::detail {

void discard(SignalQueueEntry& entry) noexcept { entry.drop(); }

}  // namespace HEIST_NAMESPACE::detail
