#include <heistd/limits.hpp>
#include <heistd/outgoing.hpp>
#include <utility>

namespace heistd {

std::optional<Outgoing::Hold> Outgoing::hold(const SharedBlocks& body) {
  const auto size = byte_count(*body);
  if (size <= block_bytes) return Hold();
  const auto* const key = body.get();
  if (auto held = find(key)) return held;
  auto share = bytes_.take(size);
  if (!share) return std::nullopt;
  const auto release = [this, key](const Quota::Share* last) {
    forget(key);
    delete last;
  };
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): the shared_ptr owns it from the start
  Hold hold(new Quota::Share(std::move(*share)), release);
  const std::lock_guard lock(mutex_);  // after the hold, whose release locks it, too
  held_.insert_or_assign(key, hold);
  return hold;
}

/// Null also when the last one who had it is about to forget it.
Outgoing::Hold Outgoing::find(const Blocks* body) {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(body);
  return found == held_.end() ? nullptr : found->second.lock();
}

/// Somebody may have begun to hold it anew.
void Outgoing::forget(const Blocks* body) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(body);
  if (found != held_.end() && found->second.expired()) held_.erase(found);
}

}  // namespace heistd
