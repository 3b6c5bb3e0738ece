// JobSummary: what a list says of a job, wherever that is kept.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/priority.hpp>
#include <heistd/client.hpp>
#include <heistd/job.hpp>
#include <heistd/journal/job_record.hpp>
#include <optional>
#include <string_view>

namespace heistd {

/// Lifetime: within that of the job that it was made of.
struct JobSummary {
  std::string_view id;
  std::string_view kind;
  JobState state;
  heist::TaskPriority priority;
  std::optional<std::uint64_t> bytes = {};  ///< nothing where it is not known any more
  std::string_view signal_name;
  Attempts attempts = {};
  /// Why a finished job was not done, or what the last attempt of another one has failed with.
  std::optional<StoredError> error = {};
  std::optional<std::chrono::milliseconds> expires_in = {};  ///< of one that has not been started
  std::optional<std::chrono::milliseconds> timeout = {};
  std::string_view after = {};  ///< the job after which it starts, or nothing
  std::string_view request_id = {};
};

/// The priority of a stored job of that client's: the client's default if its signal is gone.
[[nodiscard]] heist::TaskPriority priority_of(const StoredJob& job, const Client& client);

/// Errors, also of the next: std::bad_alloc.
[[nodiscard]] JobSummary summary_of(const Job& job);
/// Of a job of that client's.
[[nodiscard]] JobSummary summary_of(const StoredJob& job, const Client& client);

}  // namespace heistd
