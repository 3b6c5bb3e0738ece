// What the server says of a job, in JSON.
#pragma once

#include <heistd/blocks.hpp>
#include <heistd/job.hpp>
#include <heistd/job_summary.hpp>
#include <heistd/json_text.hpp>
#include <heistd/refusal.hpp>
#include <string>

namespace heistd {

// Errors, of all: std::bad_alloc.

/// Adds what a list says of a job.
void add_summary(JsonText& text, const JobSummary& job);
/// Adds all that is said of a job, but where its resources are, and its result where that is JSON.
void add_job(JsonText& text, const Job& job);

[[nodiscard]] std::string summary_text(const JobSummary& job);
/// What listeners are told of a job: its summary, and its progress.
[[nodiscard]] std::string event_text(const Job& job);

// These end with a newline.

/// The description of a job, with its result where that is JSON.
[[nodiscard]] Body job_line(const Job& job);
/// The same, as far as it is known, of a job of which there is only a summary.
[[nodiscard]] std::string waiting_line(const JobSummary& job);
/// That a job was waited for and is not done, and its description.
[[nodiscard]] std::string undone_line(const Refusal& refusal, const Job& job);

}  // namespace heistd
