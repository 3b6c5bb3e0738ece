// The kinds of jobs that heistd itself brings, and their work.
#pragma once

#include <heistd/blocks.hpp>
#include <heistd/job_work.hpp>
#include <heistd/kind.hpp>
#include <heistd/kind_table.hpp>
#include <memory>
#include <string>

namespace heistd {

/// SHA-256 of the upload.
[[nodiscard]] Kind digest_kind();
/// The upload as one zstd frame.
[[nodiscard]] Kind compress_kind();
/// The lines of the upload that match its parameter `pattern`.
[[nodiscard]] Kind search_kind();

/// Adds all three.
inline void add_builtin_kinds(KindTable& kinds) {
  kinds.add(digest_kind());
  kinds.add(compress_kind());
  kinds.add(search_kind());
}
[[nodiscard]] inline KindTable builtin_kinds() {
  KindTable kinds;
  add_builtin_kinds(kinds);
  return kinds;
}

[[nodiscard]] std::unique_ptr<JobWork> make_digest_work(Blocks body);
[[nodiscard]] std::unique_ptr<JobWork> make_compress_work(Blocks body);
/// Its first steps compile the pattern.
[[nodiscard]] std::unique_ptr<JobWork> make_search_work(Blocks body, std::string pattern);

}  // namespace heistd
