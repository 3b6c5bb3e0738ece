// What the API answers with.
#pragma once

#include <heistd/job.hpp>
#include <heistd/job_summary.hpp>
#include <heistd/json.hpp>
#include <heistd/reply.hpp>

namespace heistd {

/// Errors, of all: std::bad_alloc.
[[nodiscard]] Reply json_reply(unsigned status, const Json& json);
[[nodiscard]] Reply job_reply(unsigned status, const Job& job);
[[nodiscard]] Reply summary_reply(unsigned status, const JobSummary& job);
[[nodiscard]] Reply with_location(Reply reply, std::string_view id);

/// Another client's job is none.
[[nodiscard]] inline Refusal no_such_job() { return not_found("this client has no such job"); }

}  // namespace heistd
