#include <heistd/limits.hpp>
#include <heistd/postgresql/postgres_claims.hpp>
#include <heistd/postgresql/postgres_jobs.hpp>
#include <utility>

namespace heistd {
namespace {

/// Where its columns are in the answer.
enum Column : std::size_t {
  lanes,
  cursors,
  mark,
  until,
  lane,
  turn,
  day,
  first_bytes,
  read_at,
  stored,
};

constexpr PostgresStatement claim_statement = {
    "claim",
    "SELECT cursor_lanes, cursors, mark, until, its_lane, its_turn, (it).day, first_bytes, "
    "clock_now, (it).* FROM claim($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, "
    "$15, $16, $17, $18)"};

std::vector<PostgresBytes> all_bytes_of(const std::vector<std::string>& names) {
  std::vector<PostgresBytes> bytes;
  for (const auto& name : names) bytes.push_back(bytes_of(name));
  return bytes;
}

void add_limits(const ClaimWish& wish, PostgresParameters& parameters) {
  std::vector<PostgresBytes> clients;
  std::vector<std::int32_t> limits;
  for (const auto& [client, running] : wish.limits) {
    clients.push_back(bytes_of(client));
    limits.push_back(static_cast<std::int32_t>(running));
  }
  parameters.add(clients).add(limits).add(all_bytes_of(wish.programs));
  parameters.add(static_cast<std::int32_t>(wish.most_programs));
}

void add_passed(const ClaimWish& wish, PostgresParameters& parameters) {
  std::vector<std::int32_t> lanes;
  std::vector<std::int64_t> firsts;
  std::vector<std::int64_t> lasts;
  for (const auto& [lane, turns] : wish.passed) {
    lanes.push_back(lane);
    firsts.push_back(turns.first);
    lasts.push_back(turns.last);
  }
  parameters.add(lanes).add(firsts).add(lasts);
}

ClaimedJob read_claimed(const PostgresRows& rows, std::size_t row) {
  ClaimedJob claimed;
  claimed.job = read_stored_job(rows, row, stored, rows.get<PostgresTime>(row, read_at));
  const auto block = rows.get<std::optional<PostgresBytes>>(row, first_bytes);
  if (block) claimed.block = block->bytes;
  claimed.lane = rows.get<std::int32_t>(row, lane);
  claimed.turn = rows.get<std::int64_t>(row, turn);
  return claimed;
}

}  // namespace

PostgresCall PostgresClaims::call(const ClaimWish& wish, const HeldJobs& held,
                                  const AttemptPauses& pauses,
                                  std::optional<SystemTime> clock) const {
  PostgresCall call{claim_statement};
  call.parameters.add(static_cast<std::int32_t>(wish.agents)).add(held.lanes());
  call.parameters.add(all_bytes_of(wish.clients)).add(all_bytes_of(wish.kinds));
  add_limits(wish, call.parameters);
  add_passed(wish, call.parameters);
  call.parameters.add(static_cast<std::int32_t>(block_bytes))
      .add(pauses)
      .add(lanes_)
      .add(cursors_)
      .add(mark_)
      .add(until_)
      .add(clock);
  return call;
}

std::vector<ClaimedJob> PostgresClaims::take(const PostgresRows& rows, HeldJobs& held) {
  lanes_ = rows.get<std::vector<std::int32_t>>(0, lanes);
  cursors_ = rows.get<std::vector<std::int64_t>>(0, cursors);
  mark_ = rows.get<std::int64_t>(0, mark);
  until_ = rows.get<std::int64_t>(0, until);
  std::vector<ClaimedJob> claimed;
  for (std::size_t row = 1; row < rows.size(); ++row) {
    claimed.push_back(read_claimed(rows, row));
    const auto& [job, block, its_lane, its_turn] = claimed.back();
    held.add(job.id, {rows.get<PostgresDate>(row, day), static_cast<std::int64_t>(job.order),
                      its_lane, job.attempt});
  }
  return claimed;
}

}  // namespace heistd
