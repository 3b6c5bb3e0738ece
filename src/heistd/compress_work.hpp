// What other parts need to know of the compression.
#pragma once

#include <cstddef>

namespace heistd {

/// Memory of zstd's context for an upload of that size.
[[nodiscard]] std::size_t compress_context_bytes(std::size_t body_bytes) noexcept;

}  // namespace heistd
