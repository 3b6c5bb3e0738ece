// JobResult: what the kinds of jobs give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <heistd/blocks.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace heistd {

struct DigestResult {
  std::string sha256;  ///< lower-case hexadecimal
};

struct CompressResult {
  SharedBlocks data;  ///< one zstd frame
};

struct SearchResult {
  /// The first matching lines, within the limits, as replies show them: the elements of a JSON
  /// array.
  SharedBlocks lines;
  std::uint64_t kept = 0;      ///< how many these are
  std::uint64_t matched = 0;   ///< all matching lines
  std::uint64_t searched = 0;  ///< all lines
  [[nodiscard]] bool truncated() const noexcept { return kept < matched; }
};

using JobResult = std::variant<DigestResult, CompressResult, SearchResult>;

/// Memory that keeping the result takes: what its strings hold, not only what they show.
[[nodiscard]] std::size_t kept_bytes(const JobResult& result) noexcept;

/// Why a job could not be done: a code for programs and a text for people.
class JobFailure : public std::runtime_error {
 public:
  JobFailure(std::string code, const std::string& message)
      : runtime_error(message), code_(std::move(code)) {}
  [[nodiscard]] const std::string& code() const noexcept { return code_; }

 private:
  std::string code_;
};

}  // namespace heistd
