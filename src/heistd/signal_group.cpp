#include <heistd/signal_group.hpp>

namespace heistd {

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

void SignalGroups::job_finished(std::string_view name, SignalGroup& group) {
  if (--group.unfinished_jobs > 0 || group.was_put) return;
  // The name may stand for a newer group by now.
  const auto found = groups_.find(name);
  if (found != groups_.end() && found->second.get() == &group) groups_.erase(found);
}

}  // namespace heistd
