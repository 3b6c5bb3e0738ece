// What a journal keeps of a job.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/priority.hpp>
#include <heistd/blocks.hpp>
#include <heistd/job_id.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heistd {

using SystemTime = std::chrono::sys_time<std::chrono::microseconds>;

/// Names and values, as the request gave them.
using JobParameters = std::vector<std::pair<std::string, std::string>>;

/// The number of a start of a job, from 1. It tells the word of the latest start from that of an
/// earlier one, so no number comes twice.
using Attempt = std::uint32_t;
inline constexpr Attempt first_attempt = 1;

/// The place of a job in the order in which jobs were accepted, from 1.
using AcceptanceOrder = std::uint64_t;

/// The states from `done` on are ends.
enum class StoredState : std::uint8_t {
  queued,   ///< it waits for its start, which may be at a later time only
  running,  ///< its latest attempt has been started
  done,
  failed,  ///< with an error that another attempt would not change
  aborted,
  dead,  ///< its attempts are used up; it may be queued again
};
[[nodiscard]] constexpr bool is_end(StoredState state) noexcept {
  return state >= StoredState::done;
}

/// By which a client knows its own request again when it repeats it.
struct IdempotencyKey {
  std::string key;
  std::string digest;  ///< of the whole request
};

/// How long a key stands for the job that it was given with.
inline constexpr std::chrono::hours idempotency_life{24};

/// A job to accept.
struct NewJob {
  JobId id;
  std::string client;
  std::string kind;
  JobParameters parameters;
  std::string signal_name;                      ///< empty: none
  std::optional<heist::TaskPriority> priority;  ///< empty: the signal's
  /// What the signal gets if it is this job that brings it into being.
  heist::TaskPriority signal_priority = heist::TaskPriority::user_visible;
  std::chrono::milliseconds delay{};
  std::optional<std::chrono::milliseconds> ttl;      ///< within which it is to start
  std::optional<std::chrono::milliseconds> timeout;  ///< of each attempt
  JobId after;  ///< its predecessor, without whose success it does not start; empty: none
  Attempt max_attempts = 1;
  std::string request_id;  ///< of the request that brought it
  std::optional<IdempotencyKey> key;
  SharedBlocks payload;  ///< null: no bytes
};

/// Why a job did not get done: a code for programs and a text for people.
struct StoredError {
  std::string code;
  std::string message;
};

/// Of an attempt whose server has gone.
[[nodiscard]] inline StoredError lost_attempt() {
  return {"attempt_lost", "the server ended while the job ran"};
}

/// Of a job that somebody did not want any more.
[[nodiscard]] inline StoredError aborted_because(std::string_view why) {
  return {"aborted", std::string(why)};
}
inline constexpr std::string_view job_deleted = "the job was deleted";
inline constexpr std::string_view signal_deleted = "the signal was deleted";

/// Of a job whose predecessor has ended without success.
inline constexpr std::string_view predecessor_failed_code = "predecessor_failed";
[[nodiscard]] inline StoredError predecessor_failed(const JobId& predecessor) {
  return {std::string(predecessor_failed_code),
          "job " + predecessor + ", after which this one was to start, has not been done"};
}

/// What a job gave. `description` is a text in a form of the kind's own.
struct StoredResult {
  std::string description;
  SharedBlocks bytes;  ///< null: none
};

/// A job as it is read back; its bytes are read by themselves.
struct StoredJob {
  JobId id;
  AcceptanceOrder order = 0;
  std::string client;
  std::string kind;
  JobParameters parameters;
  std::string signal_name;
  std::optional<heist::TaskPriority> priority;
  std::chrono::milliseconds delay{};  ///< what is left of it
  /// What is left of it; none when the job has been started.
  std::optional<std::chrono::milliseconds> ttl;
  std::optional<std::chrono::milliseconds> timeout;  ///< of each attempt
  JobId after;                                       ///< its predecessor; empty: none
  bool follows = false;                              ///< that has not ended yet
  Attempt attempt = 0;                               ///< the latest one
  Attempt forgiven = 0;                              ///< how many attempts do not count any more
  Attempt max_attempts = 1;
  StoredState state = StoredState::queued;
  std::string request_id;
  std::optional<IdempotencyKey> key;
  std::uint64_t payload_bytes = 0;
  std::string result_description;
  std::uint64_t result_bytes = 0;
  std::optional<StoredError> error;  ///< of the latest attempt that failed, or why it was aborted
  std::optional<SystemTime> ended_at;

  [[nodiscard]] bool has_attempts_left() const noexcept {
    return attempt - forgiven < max_attempts;
  }
};

/// What a dead job is once it is queued again.
[[nodiscard]] inline StoredJob queued_anew(StoredJob dead) {
  dead.state = StoredState::queued;
  dead.forgiven = dead.attempt;
  return dead;
}

/// A signal name with its priority.
struct StoredSignal {
  std::string client;
  std::string name;
  heist::TaskPriority priority = heist::TaskPriority::user_visible;
  bool was_put = false;  ///< asked for by name, so it stays while it has no jobs
};

/// What a client has paused.
struct StoredPause {
  enum class Of : std::uint8_t { kind, signal };

  std::string client;
  Of of = Of::kind;
  std::string name;
};

/// What may be kept of finished jobs. Of those that are too many bytes the oldest go first, and the
/// newest one stays. Dead ones stay as long as there are others, unless they have more than half of
/// the bytes, as somebody may still want to queue them again.
struct JournalBounds {
  std::uint64_t finished_bytes = std::uint64_t{1} << 30U;
  std::chrono::milliseconds finished_age = std::chrono::hours(24 * 7);
};

/// What a finished job counts for besides its bytes.
inline constexpr std::uint64_t finished_record_bytes = 512;

}  // namespace heistd
