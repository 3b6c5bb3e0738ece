// address_bits: how much of an address the library's packed words keep.
#pragma once

#include <cstdint>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// Some words hold an address and a count (InjectionQueue, LinkedQueue, SlabStack). They keep that
/// many bits of the address, which is what programs get on x86-64 and aarch64: longer ones only go
/// to who asks for them (mmap with a hint). Tags in the upper byte would be lost: those of
/// HWAddressSanitizer, and of glibc's allocator with glibc.mem.tagging.
inline constexpr unsigned address_bits = 48;
static_assert(
    sizeof(std::uintptr_t) == 8,
    "heist keeps an address and a count in one word of 64 bits: it needs a 64-bit target");

/// Ends the program, with a message that says why.
[[noreturn]] void refuse_long_address(const void* memory) noexcept;

/// Refuses memory whose address does not fit. Called where the library gets memory for nodes, which
/// is long before the first word; whoever tags addresses of a stack tags those, too.
inline void expect_short_address(const void* memory) noexcept {
  if (reinterpret_cast<std::uintptr_t>(memory) >> address_bits != 0) refuse_long_address(memory);
}

}  // namespace HEIST_NAMESPACE::detail
