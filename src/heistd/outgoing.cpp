#include <heistd/limits.hpp>
#include <heistd/outgoing.hpp>
#include <utility>

namespace heistd {

std::optional<Outgoing::Hold> Outgoing::hold(const SharedBlocks& body) {
  const auto size = byte_count(*body);
  if (size <= block_bytes) return Hold();
  const auto* const key = body.get();
  const auto found = held_.find(key);
  if (found != held_.end()) return found->second.lock();
  auto share = bytes_.take(size);
  if (!share) return std::nullopt;
  const auto forget = [this, key](const Quota::Share* last) {
    held_.erase(key);
    delete last;
  };
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): the shared_ptr owns it from the start
  Hold hold(new Quota::Share(std::move(*share)), forget);
  held_.emplace(key, hold);
  return hold;
}

}  // namespace heistd
