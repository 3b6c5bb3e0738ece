// ChannelCore: what a Channel stands for: two sides, and cells with the values.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <heist/detail/channel_side.hpp>
#include <heist/detail/export.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/ref.hpp>
#include <heist/version.hpp>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// The part of a channel that does not depend on the type of its values.
///
/// Lifetime  shares: the owner's, and one for each wait and grant.
class HEIST_EXPORT ChannelCore {
 public:
  ChannelCore(const ChannelCore&) = delete;
  ChannelCore& operator=(const ChannelCore&) = delete;

  [[nodiscard]] ChannelSide& senders() noexcept { return senders_; }
  [[nodiscard]] ChannelSide& receivers() noexcept { return receivers_; }
  /// Ends the senders' side, and the receivers' one behind the last value.
  void close() noexcept;
  /// Called once, by the owner, who goes: all waits end with an error.
  void close_owner() noexcept;

  friend void retain(ChannelCore& core) noexcept { core.shares_.add(); }
  friend void release(ChannelCore& core) noexcept {
    if (core.shares_.drop()) core.destroy_(core);
  }

 protected:
  using Destroy = void (*)(ChannelCore&) noexcept;

  /// Errors: std::invalid_argument for a capacity of 0, or more than ChannelSide::most_cells;
  /// std::bad_alloc.
  ChannelCore(std::size_t capacity, Destroy destroy);
  ~ChannelCore() = default;

  /// A power of two, so that turns that wrap around go on with the right cell.
  [[nodiscard]] static std::size_t cells_of(std::size_t capacity) noexcept {
    return std::bit_ceil(capacity);
  }

 private:
  RefCount shares_{1};
  const Destroy destroy_;
  ChannelSide senders_;
  ChannelSide receivers_;
};

/// A share of one side is a share of the channel.
inline void retain(ChannelSide& side) noexcept { retain(side.channel()); }
inline void release(ChannelSide& side) noexcept { release(side.channel()); }

/// A channel with its values.
template <class T>
class ChannelState final : public ChannelCore {
 public:
  /// Errors: as of ChannelCore.
  explicit ChannelState(std::size_t capacity)
      : ChannelCore(capacity, &destroy),
        capacity_(static_cast<std::uint32_t>(capacity)),
        cell_mask_(static_cast<std::uint32_t>(cells_of(capacity) - 1)),
        cells_(std::make_unique_for_overwrite<Cell[]>(cells_of(capacity))) {}
  ~ChannelState() {
    while (receive(receivers().take_left())) {
    }
  }

  /// Fills the cell that a sender has taken, if it has one; otherwise the value stays.
  [[nodiscard]] bool send(ChannelTurn turn, T&& value) noexcept {
    if (!turn.is_taken()) return false;
    ::new (static_cast<void*>(cell_of(turn).bytes)) T(std::move(value));
    receivers().make_ready(turn.number());
    return true;
  }
  /// Empties the cell that a receiver has taken, if it has one.
  [[nodiscard]] std::optional<T> receive(ChannelTurn turn) noexcept {
    if (!turn.is_taken()) return std::nullopt;
    T& value = *std::launder(reinterpret_cast<T*>(cell_of(turn).bytes));
    std::optional<T> received(std::move(value));
    value.~T();  // NOLINT(bugprone-use-after-move): its end is all that is left
    senders().make_ready(turn.number() + capacity_);
    return received;
  }

 private:
  struct Cell {
    alignas(T) std::byte bytes[sizeof(T)];
  };

  static void destroy(ChannelCore& core) noexcept {
    destroy_node(static_cast<ChannelState&>(core));
  }
  [[nodiscard]] Cell& cell_of(ChannelTurn turn) noexcept {
    return cells_[turn.number() & cell_mask_];
  }

  const std::uint32_t capacity_;
  const std::uint32_t cell_mask_;
  const std::unique_ptr<Cell[]> cells_;
};

/// The right to take one turn of a channel of T, which a coroutine has waited for. It keeps the
/// channel.
template <class T>
class ChannelGrant {
 public:
  explicit ChannelGrant(Ref<ChannelSide> side) noexcept : side_(std::move(side)) {}
  ChannelGrant(ChannelGrant&& other) noexcept
      : side_(std::move(other.side_)), is_used_(other.is_used_) {}
  ChannelGrant& operator=(ChannelGrant&&) = delete;
  ~ChannelGrant() {
    if (side_ && !is_used_) side_->withdraw();
  }

  /// To be called once.
  [[nodiscard]] ChannelTurn take() noexcept {
    is_used_ = true;
    return side_->take_granted();
  }

 private:
  Ref<ChannelSide> side_;
  bool is_used_ = false;
};

}  // namespace HEIST_NAMESPACE::detail
