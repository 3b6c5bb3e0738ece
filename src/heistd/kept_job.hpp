// KeptJob: a job that is to be accepted, until the journal has it.
#pragma once

#include <cstddef>
#include <heistd/budget.hpp>
#include <heistd/client.hpp>
#include <heistd/job_request.hpp>
#include <heistd/job_summary.hpp>
#include <heistd/journal/job_record.hpp>
#include <optional>

namespace heistd {

struct KeptJob {
  Client& client;
  JobRequest request;
  Budget::Ticket ticket;
  JobId id;
  std::size_t bytes;
};

/// What the journal is told.   Errors: std::bad_alloc.
[[nodiscard]] NewJob new_job(const KeptJob& kept, std::optional<IdempotencyKey> key, Blocks body);

/// Of one that waits for its turn.   Lifetime: within that of `kept`.
[[nodiscard]] JobSummary waiting_summary(const KeptJob& kept);

}  // namespace heistd
