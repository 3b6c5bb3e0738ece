// Shadow: who touched which byte of plain memory, for races and uses after free.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "address_table.hpp"
#include "clock.hpp"

namespace heist::model {

using namespace detail;

enum class AccessKind : std::uint8_t { read, write, release };

/// Code that touches memory: its address in the program.
using Code = const void*;

struct Access {
  Code code;
  Epoch epoch;
  std::int8_t thread;
  AccessKind kind;
  std::uint8_t bytes;  ///< of the eight: a mask
};

/// Two accesses that do not happen one before the other, or an access to memory that was freed
/// before.
struct Conflict {
  Access earlier;
  Access later;
};

class Shadow {
 public:
  void forget_all() noexcept;

  /// The thread whose clock it is touches the bytes.
  [[nodiscard]] std::optional<Conflict> touch(ThreadId thread, const VectorClock& clock,
                                              const void* begin, std::size_t bytes, AccessKind kind,
                                              Code code);

 private:
  /// Eight bytes of memory.
  struct Granule {
    static constexpr std::size_t capacity = 7;
    std::array<Access, capacity> accesses;
    std::uint8_t count = 0;

    void reset() noexcept { count = 0; }
    [[nodiscard]] std::optional<Conflict> touch(const Access& access, const VectorClock& clock);
    void forget(std::uint8_t bytes, ThreadId thread, AccessKind kind) noexcept;
  };
  /// Freed memory too large to note in each granule.
  struct FreedRange {
    std::uintptr_t begin;
    std::uintptr_t end;
    Access freed;
  };
  static constexpr std::size_t large = 1024;

  /// A large range is freed: not before all that touched it.
  [[nodiscard]] std::optional<Conflict> before_release(Access access, const VectorClock& clock,
                                                       std::uintptr_t first, std::uintptr_t end);

  AddressTable<Granule> granules_;
  std::vector<std::uintptr_t> touched_;  ///< granules, oldest first
  std::vector<FreedRange> freed_ranges_;
};

}  // namespace heist::model
