// JobRequest: what a client asks for, and how the query of a request becomes one.
#pragma once

#include <chrono>
#include <heist/priority.hpp>
#include <heistd/client.hpp>
#include <heistd/job_query.hpp>
#include <heistd/journal/job_record.hpp>
#include <heistd/kind.hpp>
#include <heistd/limits.hpp>
#include <heistd/list_cursor.hpp>
#include <heistd/query.hpp>
#include <optional>
#include <string>

namespace heistd {

/// What a client asks for, but for the bytes to work on.
struct JobRequest {
  /// Of a KindTable. Null only of a request that brings many jobs, until it is read.
  const Kind* kind = nullptr;
  Parameters parameters = {};  ///< of the kind: all that are required, and of their types
  std::optional<heist::TaskPriority> priority = {};
  std::chrono::milliseconds delay{};
  std::optional<std::chrono::milliseconds> ttl = {};      ///< within which it is to start
  std::optional<std::chrono::milliseconds> timeout = {};  ///< of each attempt
  std::string signal_name = {};                           ///< empty: none
  JobId after = {};      ///< the job after which this one starts; empty: none
  bool follows = false;  ///< that has not ended yet
  Patience wait = {};
  std::uint32_t max_attempts = default_max_attempts;
  std::string request_id = {};  ///< of the request that brings it
};

/// What a journal's job asks for; its delay is what is left of that.   Errors: std::bad_alloc.
[[nodiscard]] JobRequest request_of(const StoredJob& job, const Kind& kind);

/// Whether jobs with these parameters may be of the kind: that of an earlier server may have taken
/// others.   Errors: std::bad_alloc.
[[nodiscard]] bool takes(const Kind& kind, const JobParameters& given);

/// Reads the parameters of a job: those of all jobs, such as its priority, and those of its kind.
///
/// Errors: 400 "bad_parameter", 403 "above_ceiling".
[[nodiscard]] Result<JobRequest> read_job_request(const Kind& kind, const Target& target,
                                                  const Client& client);

/// Reads the parameters of a list of jobs.   Errors: 400 "bad_parameter".
[[nodiscard]] Result<JobQuery> read_job_query(const Target& target, const ListCursor& cursor);

/// Reads which finished jobs are to be queued again, which are dead ones, or to be forgotten.
///
/// Errors: 400 "bad_parameter".
[[nodiscard]] Result<JobQuery> read_sweep_query(const Target& target, bool requeues);

/// Reads the one parameter of what is put, its new priority.   Errors: 400 "bad_parameter", 403
/// "above_ceiling".
[[nodiscard]] Result<heist::TaskPriority> read_new_priority(const Target& target,
                                                            const Client& client);

}  // namespace heistd
