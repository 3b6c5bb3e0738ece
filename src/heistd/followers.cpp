#include <heistd/followers.hpp>

namespace heistd {

Followers::~Followers() {
  released_.clear();
  orphans_.clear();
  for (auto& [id, predecessor] : predecessors_) predecessor.followers.clear();
}

void Followers::add(const Id& predecessor, const Id& follower) {
  const auto [place, is_new] = followers_.try_emplace(follower, Follower{follower, nullptr});
  if (!is_new) return;
  try {
    auto& followed = predecessors_[predecessor];
    followed.id = predecessor;
    ++followed.references;
    place->second.predecessor = &followed;
    followed.followers.push_back(place->second);
  } catch (...) {
    followers_.erase(place);
    throw;
  }
}

void Followers::remove(const Id& follower) noexcept {
  const auto found = followers_.find(follower);
  if (found == followers_.end()) return;
  auto* const predecessor = found->second.predecessor;
  followers_.erase(found);
  if (--predecessor->references == 0) predecessors_.erase(predecessors_.find(predecessor->id));
}

void Followers::note_end(const Id& predecessor, End end) noexcept {
  const auto found = predecessors_.find(predecessor);
  if (found == predecessors_.end()) return;
  auto& to = end == End::done ? released_ : orphans_;
  to.splice(to.end(), found->second.followers);
}

void Followers::note_abort(const Id& follower) noexcept {
  const auto found = followers_.find(follower);
  if (found == followers_.end()) return;
  found->second.place.unlink();
  orphans_.push_back(found->second);
}

const Followers::Id* Followers::predecessor_of(const Id& follower) const noexcept {
  const auto found = followers_.find(follower);
  return found == followers_.end() ? nullptr : &found->second.predecessor->id;
}

const Followers::Id* Followers::first_released() const noexcept {
  return released_.empty() ? nullptr : &released_.front().id;
}

const Followers::Id* Followers::first_orphan() const noexcept {
  return orphans_.empty() ? nullptr : &orphans_.front().id;
}

void Followers::put_back_orphan() noexcept {
  auto& orphan = orphans_.front();
  orphans_.pop_front();
  orphan.predecessor->followers.push_back(orphan);
}

}  // namespace heistd
