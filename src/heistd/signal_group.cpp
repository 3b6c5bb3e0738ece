#include <algorithm>
#include <heistd/signal_group.hpp>

namespace heistd {

std::shared_ptr<JobBatch> SignalGroup::batch_for(std::size_t bytes) {
  const auto has_room = [bytes](const auto& batch) {
    return batch->jobs.size() < JobBatch::max_jobs && batch->bytes + bytes <= JobBatch::max_bytes;
  };
  // The newest one first, which mostly has room.
  const auto found = std::ranges::find_if(batches_, has_room);
  if (found != batches_.end()) {
    batches_.splice(batches_.begin(), batches_, found);
    return batches_.front();
  }
  batches_.push_front(std::make_shared<JobBatch>(priority_));
  return batches_.front();
}

void SignalGroup::batch_left(const std::shared_ptr<JobBatch>& batch) {
  if (batch->jobs.empty()) batches_.remove(batch);
}

void SignalGroup::set_priority(heist::TaskPriority priority) {
  priority_ = priority;
  for (const auto& batch : batches_) batch->controller.set_priority(priority);
}

std::shared_ptr<SignalGroup> SignalGroups::find(std::string_view name) const {
  const auto found = groups_.find(name);
  return found == groups_.end() ? nullptr : found->second;
}

std::shared_ptr<SignalGroup> SignalGroups::find_or_make(std::string_view name,
                                                        heist::TaskPriority priority) {
  if (auto group = find(name)) return group;
  if (groups_.size() >= max_names_) return nullptr;
  auto group = std::make_shared<SignalGroup>(priority);
  groups_.emplace(name, group);
  return group;
}

void SignalGroups::erase(std::string_view name) {
  if (const auto found = groups_.find(name); found != groups_.end()) groups_.erase(found);
}

void SignalGroups::drop_unused(std::string_view name, const SignalGroup& group) {
  if (group.unfinished_jobs > 0 || group.was_put) return;
  // The name may stand for a newer group by now.
  const auto found = groups_.find(name);
  if (found != groups_.end() && found->second.get() == &group) groups_.erase(found);
}

}  // namespace heistd
