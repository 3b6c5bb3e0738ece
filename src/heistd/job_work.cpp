#include <heistd/compress_work.hpp>
#include <heistd/job_work.hpp>
#include <heistd/limits.hpp>

namespace heistd {

std::size_t working_bytes(JobKind kind, std::size_t body_bytes) noexcept {
  // Work that is done in one chunk keeps nothing between chunks.
  if (kind != JobKind::compress || body_bytes <= block_bytes) return 0;
  return compress_context_bytes(body_bytes);
}

}  // namespace heistd
