#include "scheduler_core.hpp"

#include <memory>

namespace HEIST_NAMESPACE::detail {

SchedulerCore::~SchedulerCore() {
  // relaxed: nobody else uses it any more.
  for (auto& place : lower_) delete place.load(sync::relaxed);
}

SchedulerCore& SchedulerCore::with_ceiling(TaskPriority highest) {
  if (highest >= ceiling) return *this;
  auto& place = base_->lower_[static_cast<std::size_t>(highest)];
  SchedulerCore* found = place.load(sync::edge("ceiling:find", sync::acquire));
  if (found != nullptr) return *found;
  auto made = std::unique_ptr<SchedulerCore>(new SchedulerCore(*base_, highest));
  if (!place.compare_exchange_strong(found, made.get(), sync::edge("ceiling:make", sync::release),
                                     sync::edge("ceiling:find", sync::acquire))) {
    return *found;
  }
  return *made.release();
}

}  // namespace HEIST_NAMESPACE::detail
