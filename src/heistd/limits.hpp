// Limits: how much one client may have, and how long the server waits for it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace heistd {

inline constexpr std::size_t kib = 1024;
inline constexpr std::size_t mib = 1024 * kib;

/// What the command line can set. The job limits hold for each client by itself, so that no client
/// can use up, or learn about, what another one has.
struct Limits {
  std::size_t max_body = 16 * mib;
  std::size_t max_header = 16 * kib;
  std::size_t max_connections = 256;
  /// Zero, here and in the next two: what ConnectionShares takes for this number of connections.
  std::size_t max_client_connections = 0;
  std::size_t max_address_connections = 0;
  std::size_t max_waiting = 0;
  bool limit_loopback = false;  ///< max_address_connections is for loopback's addresses, too
  std::size_t max_queued = 16384;
  std::size_t max_queued_bytes = 512 * mib;
  std::size_t max_unsent_bytes = 0;  ///< zero: as in unsent_bytes()
  /// Of uploads of a client's unfinished jobs, on the disk of a journal.
  std::size_t max_stored_uploads = std::size_t{16} * 1024 * mib;
  std::size_t max_results = 1024;
  std::size_t max_result_bytes = 64 * mib;
  std::chrono::milliseconds header_timeout{10'000};
  std::chrono::milliseconds idle_timeout{30'000};
  std::chrono::milliseconds body_timeout{900'000};
  std::size_t min_rate = kib;  ///< bytes a second, of uploads and of replies

  [[nodiscard]] std::size_t unsent_bytes() const noexcept {
    return max_unsent_bytes > 0 ? max_unsent_bytes : std::max(max_body, max_queued_bytes / 4);
  }
};

/// Uploads are kept, and results made, in blocks of this size; a chunk of a job reads one block at
/// most.
inline constexpr std::size_t block_bytes = 128 * kib;
/// How long a chunk goes on where its work could stop earlier.
inline constexpr std::chrono::microseconds chunk_budget{500};
/// What an unfinished job takes besides its bytes: its records, its signal, its task and its
/// coroutine.
inline constexpr std::size_t job_bytes = 4 * kib;
/// Starts of a job that end with their process, or fail for a while.
inline constexpr std::uint32_t default_max_attempts = 3;
inline constexpr std::uint32_t most_max_attempts = 100;
inline constexpr std::chrono::milliseconds max_delay = std::chrono::hours(24);
inline constexpr std::chrono::milliseconds max_ttl = std::chrono::hours(24 * 7);
inline constexpr std::chrono::milliseconds max_timeout = std::chrono::hours(24);
inline constexpr std::size_t max_pattern_bytes = 1024;
/// A line is kept as a whole while it is matched.
inline constexpr std::size_t max_line_bytes = 64 * kib;
inline constexpr std::size_t max_matched_lines = 1000;
inline constexpr std::size_t max_matched_bytes = 256 * kib;  ///< as they stand in the reply
inline constexpr std::size_t max_signal_name_bytes = 64;
/// Jobs that one request brings; and the line of each, so that to read it takes no longer than a
/// chunk may.
inline constexpr std::size_t max_bulk_jobs = 10'000;
inline constexpr std::size_t max_bulk_line_bytes = 256 * kib;
/// Jobs of such a request that one step of the network thread takes on.
inline constexpr std::size_t bulk_jobs_at_a_time = 128;
/// Jobs of a client in one answer.
inline constexpr std::uint32_t max_listed = 100;
inline constexpr std::size_t max_signals = 1024;
/// Of a kind that takes any: looking for them takes the square of their number.
inline constexpr std::size_t max_any_parameters = 64;

}  // namespace heistd
