// BulkItem: a job of a bulk request, as its line says it.
#pragma once

#include <heistd/blocks.hpp>
#include <heistd/journal/job_record.hpp>
#include <heistd/refusal.hpp>
#include <heistd/target.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace heistd {

/// Nobody has judged whether there is such a kind, and what it takes.
struct BulkItem {
  std::string kind;
  Target target;  ///< its query is that of a request for this job alone
  Blocks payload;
  std::optional<IdempotencyKey> key;
  std::optional<Refusal> refusal;  ///< then the line is no job, and the rest is nothing
};

/// Reads a line: an object in JSON. A `key` is for jobs that have none of their own.
///
/// Thread: any.   Errors: std::bad_alloc.
[[nodiscard]] BulkItem read_bulk_item(std::string_view line, const std::optional<std::string>& key);

}  // namespace heistd
