// How the query of a request becomes a JobRequest.
#pragma once

#include <heistd/client.hpp>
#include <heistd/job_service.hpp>
#include <heistd/query.hpp>

namespace heistd {

/// Reads the parameters of a job: pattern (of a search), priority, delay, signal, wait.
///
/// Errors: 400 "bad_parameter", 403 "above_ceiling".
[[nodiscard]] Result<JobRequest> read_job_request(JobKind kind, const Target& target,
                                                  const Client& client);

/// Reads the one parameter of a signal, its priority.   Errors: 400 "bad_parameter", 403
/// "above_ceiling".
[[nodiscard]] Result<heist::TaskPriority> read_signal_priority(const Target& target,
                                                               const Client& client);

}  // namespace heistd
