// What heistd's replies say, read from their JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heistctl {

/// A reply that is not as heistd's are is a Failure in all functions of this file.
struct Refusal {
  std::string code;
  std::string message;
  std::string field;  ///< what was wrong; empty: the request
};

/// Of any status that is no success.
[[nodiscard]] Refusal parse_refusal(long status, const std::string& body);

/// The description of a job. What a reply may leave out is optional, or empty.
struct Job {
  std::string id;
  std::string kind;
  std::string state;
  std::string priority;
  std::string signal;
  std::uint64_t bytes = 0;
  std::optional<double> progress;
  std::optional<double> queue_delay_us;
  std::optional<double> run_time_us;
  std::optional<unsigned> attempts;
  std::optional<unsigned> max_attempts;
  std::string error_code;  ///< of the job, or of its last attempt
  std::string error_message;
  std::string json;  ///< all that the server says of it, on one line

  [[nodiscard]] bool has_ended() const noexcept;
};

[[nodiscard]] Job parse_job(const std::string& body);

/// What has become of one of many jobs.
struct BulkJob {
  std::string id;   ///< empty: it was refused
  Refusal refusal;  ///< else nothing
};

[[nodiscard]] std::vector<BulkJob> parse_bulk(const std::string& body);

struct JobPage {
  std::vector<Job> jobs;
  std::string cursor;  ///< of the next page; empty: this is the last
};

[[nodiscard]] JobPage parse_page(const std::string& body);

/// The jobs of one priority.
struct Level {
  std::string priority;
  std::uint64_t queued = 0;
  std::uint64_t running = 0;
  std::uint64_t delayed = 0;
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t dead = 0;
  double delay_p50_us = 0;
  double delay_p99_us = 0;
};

struct Stats {
  std::string client;
  std::uint64_t jobs_held = 0;
  std::uint64_t bytes_held = 0;
  std::vector<Level> levels;  ///< the most urgent one first
};

[[nodiscard]] Stats parse_stats(const std::string& body);

/// One member of a reply that is a text or a number; empty if there is none.
[[nodiscard]] std::string parse_member(const std::string& body, const std::string& name);

}  // namespace heistctl
