// PostgresClaims: how a server claims jobs, and where the next claim goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <heistd/postgresql/held_jobs.hpp>
#include <heistd/postgresql/postgres_call.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heistd {

/// A job that this server has claimed, the first bytes of its payload, and where it has waited.
struct ClaimedJob {
  StoredJob job;
  std::string block;
  std::int32_t lane = 0;
  std::int64_t turn = 0;
};

/// What a claim leaves to others in a lane: from one turn to another, both of them included.
struct PassedTurns {
  std::int64_t first = 0;
  std::int64_t last = 0;
  friend bool operator==(const PassedTurns&, const PassedTurns&) = default;
};

/// What a claim is for.
struct ClaimWish {
  std::size_t agents = 0;            ///< that run jobs, whether they have one or not
  std::vector<std::string> clients;  ///< those that the server has
  std::vector<std::string> kinds;    ///< those that it knows
  /// A client of which no more jobs than that run at a time.
  struct Limit {
    std::string client;
    std::size_t running = 0;
  };
  std::vector<Limit> limits = {};
  std::vector<std::string> programs = {};  ///< kinds of which so many jobs run at a time together
  std::size_t most_programs = 0;
  /// Of each of these lanes: the turns of which no jobs that have come back to it are claimed.
  std::map<std::int32_t, PassedTurns> passed = {};
};

/// Pauses before the next attempts of a job, in milliseconds: after one, two and more.
using AttemptPauses = std::vector<std::int64_t>;

/// Thread: one at a time, and one claim at a time.
class PostgresClaims {
 public:
  /// Errors: std::bad_alloc.
  [[nodiscard]] PostgresCall call(const ClaimWish& wish, const HeldJobs& held,
                                  const AttemptPauses& pauses,
                                  std::optional<SystemTime> clock) const;

  /// What the call has answered; those jobs are held from now on.
  [[nodiscard]] std::vector<ClaimedJob> take(const PostgresRows& rows, HeldJobs& held);

 private:
  // Claim.sql says what these are.
  std::vector<std::int32_t> lanes_;
  std::vector<std::int64_t> cursors_;
  std::int64_t mark_ = 0;
  std::int64_t until_ = 0;
};

}  // namespace heistd
