#include "address_bits.hpp"

#include <cstdio>
#include <exception>

namespace HEIST_NAMESPACE::detail {

void refuse_long_address(const void* memory) noexcept {
  std::fprintf(
      stderr,
      "heist: the allocator returned %p, an address of more than %u bits. The library packs "
      "addresses into words that keep no more. Run the program without tagged addresses "
      "(HWAddressSanitizer, glibc.mem.tagging).\n",
      memory, address_bits);
  std::terminate();
}

}  // namespace HEIST_NAMESPACE::detail
