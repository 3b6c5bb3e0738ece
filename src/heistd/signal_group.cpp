#include <heistd/job.hpp>
#include <heistd/signal_group.hpp>
#include <new>

namespace heistd {

bool SignalGroup::follow_some() noexcept {
  try {
    for (auto left = jobs_at_a_time; left > 0 && to_follow_ != jobs_.end(); --left, ++to_follow_) {
      auto& job = **to_follow_;
      if (!job.fixed_priority) job.unfinished->controller.set_priority(priority_);
    }
  } catch (const std::bad_alloc&) {  // that job and the rest are left
    return true;
  }
  return to_follow_ != jobs_.end();
}

std::shared_ptr<SignalGroup> SignalGroups::find(std::string_view name) const {
  const auto found = groups_.find(name);
  return found == groups_.end() ? nullptr : found->second;
}

std::shared_ptr<SignalGroup> SignalGroups::find_or_make(std::string_view name,
                                                        heist::TaskPriority priority) {
  return has_room_for(name) ? restore(name, priority) : nullptr;
}

bool SignalGroups::has_room_for(std::string_view name) const {
  return groups_.size() < max_names_ || groups_.contains(name);
}

std::shared_ptr<SignalGroup> SignalGroups::restore(std::string_view name,
                                                   heist::TaskPriority priority) {
  if (auto group = find(name)) return group;
  auto group = std::make_shared<SignalGroup>(priority);
  groups_.emplace(name, group);
  return group;
}

void SignalGroups::erase(std::string_view name) {
  if (const auto found = groups_.find(name); found != groups_.end()) groups_.erase(found);
}

void SignalGroups::drop_unused(std::string_view name, const SignalGroup& group) {
  if (group.unfinished() > 0 || group.was_put) return;
  // The name may stand for a newer group by now.
  const auto found = groups_.find(name);
  if (found != groups_.end() && found->second.get() == &group) groups_.erase(found);
}

}  // namespace heistd
