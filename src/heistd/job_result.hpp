// JobResult: what jobs give.
#pragma once

#include <cstddef>
#include <heistd/blocks.hpp>
#include <string>
#include <variant>

namespace heistd {

/// Bytes of some type, which a reply is by itself.
struct BytesResult {
  std::string content_type;
  SharedBlocks data;
};

/// A JSON value, which a reply also shows within the job's description.
struct JsonResult {
  Body text;
};

using JobResult = std::variant<BytesResult, JsonResult>;

/// Memory that keeping the result takes: what its strings hold, not only what they show.
[[nodiscard]] std::size_t kept_bytes(const JobResult& result) noexcept;

}  // namespace heistd
