// Mail: how agents tell the network thread something, without needing memory for it.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

namespace heistd {

/// What the network thread is to hear. Made before it is needed, with room for whoever delivers it:
/// sending cannot fail, even when there is no memory left.
class Letter {
 public:
  Letter() = default;
  Letter(const Letter&) = delete;
  Letter& operator=(const Letter&) = delete;
  virtual ~Letter() = default;

  /// Thread: the network's.
  virtual void open() noexcept = 0;

  static constexpr std::size_t room_bytes = 256;
  [[nodiscard]] std::byte* room() noexcept { return room_.data(); }

 private:
  alignas(std::max_align_t) std::array<std::byte, room_bytes> room_;
};

/// Opens letters on the network thread, in the order in which each thread sent them.
class Mail {
 public:
  Mail() = default;
  Mail(const Mail&) = delete;
  Mail& operator=(const Mail&) = delete;
  virtual ~Mail() = default;

  /// Thread: any.
  virtual void send(std::unique_ptr<Letter> letter) noexcept = 0;
};

}  // namespace heistd
