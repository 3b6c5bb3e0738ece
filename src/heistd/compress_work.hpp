// What other parts need to know of the compression.
#pragma once

#include <cstddef>

namespace heistd {

/// Memory of one compression under way, for an upload of that size.
[[nodiscard]] std::size_t compress_working_bytes(std::size_t body_bytes) noexcept;

}  // namespace heistd
