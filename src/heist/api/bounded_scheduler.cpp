#include <heist/bounded_scheduler.hpp>
#include <stdexcept>

namespace HEIST_NAMESPACE {

using namespace detail;

void BoundedScheduler::check(const Room& room) const {
  if (room.belongs_to(bound_)) return;
  throw std::invalid_argument(room ? "BoundedScheduler: the room is another scheduler's"
                                   : "BoundedScheduler: the room is used up");
}

Reason BoundedScheduler::full_reason() { return queue_full_reason(); }

}  // namespace HEIST_NAMESPACE
