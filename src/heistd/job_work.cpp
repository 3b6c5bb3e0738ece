#include <algorithm>
#include <heistd/compress_work.hpp>
#include <heistd/job_work.hpp>
#include <heistd/limits.hpp>
#include <heistd/line_pattern.hpp>

namespace heistd {

namespace {

/// The pattern, the pieces of a line of several blocks, and the matching lines. Each byte of the
/// upload becomes 32 of those at most (`{"number":1000,"text":"\u0001"},` are two), in a string
/// that is half empty when it has just grown.
std::size_t search_bytes(std::size_t body_bytes) noexcept {
  return LinePattern::max_memory + std::min(body_bytes, 2 * max_line_bytes) +
         std::min(64 * body_bytes, 2 * max_matched_bytes);
}

}  // namespace

std::size_t working_bytes(JobKind kind, std::size_t body_bytes) noexcept {
  switch (kind) {
    case JobKind::digest:
      return 0;
    case JobKind::compress:
      // Work that is done in one chunk keeps nothing between chunks.
      return body_bytes <= block_bytes ? 0 : compress_context_bytes(body_bytes);
    case JobKind::search:
      break;
  }
  return search_bytes(body_bytes);
}

}  // namespace heistd
