#include <heist/detail/channel_core.hpp>
#include <stdexcept>

namespace HEIST_NAMESPACE::detail {

namespace {

std::size_t checked(std::size_t capacity) {
  if (capacity == 0) throw std::invalid_argument("Channel: no capacity");
  if (capacity > ChannelSide::most_cells) {
    throw std::invalid_argument("Channel: a capacity of more than 2^19");
  }
  return capacity;
}

}  // namespace

ChannelCore::ChannelCore(std::size_t capacity, Destroy destroy)
    : destroy_(destroy),
      senders_(*this, ChannelSide::Of::senders, cells_of(checked(capacity)),
               static_cast<std::uint32_t>(capacity)),
      receivers_(*this, ChannelSide::Of::receivers, cells_of(capacity), 0) {}

void ChannelCore::close() noexcept {
  std::uint32_t end = 0;
  if (senders_.close(end)) receivers_.close_at(end);
}

void ChannelCore::close_owner() noexcept {
  senders_.WaitCore::close();
  receivers_.WaitCore::close();
}

}  // namespace HEIST_NAMESPACE::detail
