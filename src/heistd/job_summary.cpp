#include <algorithm>
#include <heistd/job_summary.hpp>
#include <string>

namespace heistd {
namespace {

StoredError error_of(const JobFailure& failure) { return {failure.code(), failure.what()}; }

std::optional<StoredError> error_of(const Job::End& end) {
  if (end.failure) return error_of(*end.failure);
  if (end.state == JobState::aborted) return StoredError{"aborted", std::string(end.abort_reason)};
  if (end.state == JobState::done) return std::nullopt;
  const auto refusal = out_of_memory();
  return StoredError{refusal.code, refusal.message};
}

std::optional<StoredError> error_of(const Job& job) {
  if (job.finished()) return is_end(job.state()) ? error_of(job.end()) : std::nullopt;
  if (!job.unfinished->last_failure) return std::nullopt;
  return error_of(*job.unfinished->last_failure);
}

std::optional<StoredError> error_of(const StoredJob& job) { return job.error; }

std::optional<std::chrono::milliseconds> expires_in(const Job& job) {
  if (job.finished() || !job.expires_at || job.has_started()) return std::nullopt;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*job.expires_at - Clock::now());
  return std::max(left, std::chrono::milliseconds(0));
}

}  // namespace

heist::TaskPriority priority_of(const StoredJob& job, const Client& client) {
  if (job.priority) return *job.priority;
  const auto group = client.signals.find(job.signal_name);
  return group ? group->priority() : client.default_priority();
}

JobSummary summary_of(const Job& job) {
  return {job.id,          job.kind.name,         job.state(),   job.priority(),  job.bytes,
          job.signal_name, job.attempts_by_now(), error_of(job), expires_in(job), job.timeout,
          job.after,       job.request_id};
}

JobSummary summary_of(const StoredJob& job, const Client& client) {
  return {job.id,
          job.kind,
          state_of(job),
          priority_of(job, client),
          job.payload_bytes,
          job.signal_name,
          {job.attempt, job.forgiven, job.max_attempts},
          error_of(job),
          job.ttl,
          job.timeout,
          job.after,
          job.request_id};
}

}  // namespace heistd
