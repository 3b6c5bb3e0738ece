// JobWork: the work of one job, done in chunks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <heistd/blocks.hpp>
#include <heistd/job_result.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace heistd {

enum class JobKind : std::uint8_t { digest, compress, search };

[[nodiscard]] constexpr std::string_view to_string(JobKind kind) noexcept {
  switch (kind) {
    case JobKind::digest:
      return "digest";
    case JobKind::compress:
      return "compress";
    case JobKind::search:
      return "search";
  }
  return "invalid";
}

[[nodiscard]] constexpr std::optional<JobKind> parse_job_kind(std::string_view text) noexcept {
  for (const auto kind : {JobKind::digest, JobKind::compress, JobKind::search}) {
    if (text == to_string(kind)) return kind;
  }
  return std::nullopt;
}

/// The work of one job. Made anywhere, then used by one thread at a time.
///
/// Memory: each block of the upload is freed as soon as it is done with.
class JobWork {
 public:
  JobWork() = default;
  JobWork(const JobWork&) = delete;
  JobWork& operator=(const JobWork&) = delete;
  virtual ~JobWork() = default;

  /// Does the next chunk: one block at most, less where `budget` runs out and the work can stop.
  /// True
  /// once nothing is left.   Cost: 5 ms at most (ADR 0027).   Errors: JobFailure, std::bad_alloc;
  /// the work is over then.
  virtual bool step(std::chrono::nanoseconds budget) = 0;

  /// What the upload has left, so that somebody else may free it; nothing else may be called then.
  [[nodiscard]] virtual Blocks give_up_body() noexcept = 0;

  /// Precondition: step() returned true.
  [[nodiscard]] virtual JobResult take_result() = 0;
};

[[nodiscard]] std::unique_ptr<JobWork> make_digest_work(Blocks body);
[[nodiscard]] std::unique_ptr<JobWork> make_compress_work(Blocks body);
/// Its first steps compile the pattern.
[[nodiscard]] std::unique_ptr<JobWork> make_search_work(Blocks body, std::string pattern);

/// What a job of this kind keeps between two of its chunks, beyond the size of its body (whose
/// blocks make room for the result as they go).
[[nodiscard]] std::size_t working_bytes(JobKind kind, std::size_t body_bytes) noexcept;

}  // namespace heistd
