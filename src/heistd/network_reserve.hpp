// NetworkReserve: memory that is kept for a thread of the network.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>

namespace heistd {

/// How long it takes to try again what failed as the system has no memory or no descriptors left.
inline constexpr std::chrono::milliseconds retry_pause{100};

/// Asio ends the process when std::bad_alloc comes at the wrong moment, and no reply can say that
/// there is no memory without having some. So the thread that makes one of these keeps a reserve:
/// when its operator new finds no memory it gets a piece, and goes on. What clients can make grow
/// must not use that up, and is made within `Withheld`.
///
/// Thread: the one that made it, of which it is the only one.   Memory: `bytes` of address space,
///         of which a quarter is touched.
class NetworkReserve {
 public:
  /// Small ones, so that most of the reserve comes back also to a heap of which little is free in
  /// one place.
  static constexpr std::size_t piece_bytes = std::size_t{16} << 10U;
  static constexpr std::size_t max_pieces = 256;
  static constexpr std::size_t bytes = max_pieces * piece_bytes;

  /// Errors: std::bad_alloc.
  NetworkReserve();
  ~NetworkReserve();
  NetworkReserve(const NetworkReserve&) = delete;
  NetworkReserve& operator=(const NetworkReserve&) = delete;

  /// Takes back what the system has again; true when nothing is missing any more.
  bool refill() noexcept;
  /// Half of it is gone.
  [[nodiscard]] bool is_low() const noexcept { return pieces_ < max_pieces / 2; }

  /// Lets the caller's operator new try again; false when there is nothing to give.   Thread: any.
  static bool give() noexcept;

  /// While it lives, its thread gets nothing of the reserve.
  class Withheld {
   public:
    /// Errors: std::bad_alloc, also when there is memory but a quarter of the reserve is missing:
    ///         that comes first.
    Withheld();
    ~Withheld();
    Withheld(const Withheld&) = delete;
    Withheld& operator=(const Withheld&) = delete;
  };

 private:
  struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };

  std::array<std::unique_ptr<void, Free>, max_pieces> memory_;
  std::size_t pieces_ = 0;  ///< that are there, at the beginning of memory_
};

}  // namespace heistd
