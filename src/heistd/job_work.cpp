#include <heistd/compress_work.hpp>
#include <heistd/job_work.hpp>
#include <heistd/limits.hpp>

namespace heistd {

std::size_t working_bytes(JobKind kind, std::size_t body_bytes) noexcept {
  switch (kind) {
    case JobKind::digest:
      return 0;
    case JobKind::compress:
      return compress_working_bytes(body_bytes);
    case JobKind::search:
      return LinePattern::max_memory + max_line_bytes + max_matched_bytes;
  }
  return 0;
}

}  // namespace heistd
