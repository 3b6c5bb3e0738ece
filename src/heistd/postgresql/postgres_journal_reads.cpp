#include <heistd/postgresql/postgres_answers.hpp>
#include <vector>

namespace heistd {
namespace {

using Bytes = PostgresBytes;

std::string read_text(const PostgresRows& rows) {
  if (rows.empty()) return {};
  const auto bytes = rows.get<std::optional<Bytes>>(0, 0);
  return bytes ? std::string(bytes->bytes) : std::string();
}

/// Jobs with the time of the reading in the column behind them.
std::vector<StoredJob> read_jobs(const PostgresRows& rows) {
  std::vector<StoredJob> jobs;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    jobs.push_back(read_stored_job(rows, row, 0, rows.get<PostgresTime>(row, stored_columns)));
  }
  return jobs;
}

/// The first row has only what the next part is behind.
JobPage<StoredJob> read_page(const PostgresRows& rows) {
  JobPage<StoredJob> page;
  const auto last = rows.get<std::optional<std::int64_t>>(0, 0);
  if (last) page.last = static_cast<AcceptanceOrder>(*last);
  for (std::size_t row = 1; row < rows.size(); ++row) {
    const auto now = rows.get<PostgresTime>(row, stored_columns + 1);
    page.jobs.push_back(read_stored_job(rows, row, 1, now));
  }
  return page;
}

std::vector<StoredSignal> read_signals(const PostgresRows& rows) {
  std::vector<StoredSignal> signals;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    signals.push_back(
        {std::string(rows.get<Bytes>(row, 0).bytes), std::string(rows.get<Bytes>(row, 1).bytes),
         static_cast<heist::TaskPriority>(rows.get<std::int16_t>(row, 2)), rows.get<bool>(row, 3)});
  }
  return signals;
}

std::vector<StoredPause> read_pauses(const PostgresRows& rows) {
  std::vector<StoredPause> pauses;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    pauses.push_back({std::string(rows.get<Bytes>(row, 0).bytes),
                      static_cast<StoredPause::Of>(rows.get<std::int16_t>(row, 1)),
                      std::string(rows.get<Bytes>(row, 2).bytes)});
  }
  return pauses;
}

}  // namespace

JobJournal::Answer<std::vector<StoredPause>> PostgresJournal::pauses() {
  static constexpr PostgresStatement statement = {
      "pauses", "SELECT client, what, name FROM pause ORDER BY client, what, name"};
  return read<std::vector<StoredPause>>([] { return PostgresCall{statement}; }, &read_pauses);
}

JobJournal::Answer<std::vector<StoredSignal>> PostgresJournal::signals() {
  static constexpr PostgresStatement statement = {"signals", "SELECT * FROM signals()"};
  return read<std::vector<StoredSignal>>([] { return PostgresCall{statement}; }, &read_signals);
}

JobJournal::Answer<std::optional<StoredJob>> PostgresJournal::find(JobId id) {
  static constexpr PostgresStatement statement = {
      "find", "SELECT job.*, coalesce($2, clock_timestamp()) FROM stored job WHERE id = $1"};
  auto make = [this, id] {
    PostgresCall call{statement};
    call.parameters.add(uuid_or_none(id)).add(clock());
    return call;
  };
  auto read = [](const PostgresRows& rows) -> std::optional<StoredJob> {
    auto jobs = read_jobs(rows);
    if (jobs.empty()) return std::nullopt;
    return std::move(jobs.front());
  };
  return answer<std::optional<StoredJob>>([this, id, make, read](auto resolver) {
    const auto claimed = unstarted_.find(id);
    if (claimed != unstarted_.end()) {
      return resolver->resolve(std::optional(claimed->second.job));
    }
    read_.ask(make(), settle(std::move(resolver), read));
  });
}

JobJournal::Answer<std::size_t> PostgresJournal::count_unfinished() {
  static constexpr PostgresStatement statement = {"count_unfinished", "SELECT count(*) FROM open"};
  return read<std::size_t>([] { return PostgresCall{statement}; },
                           [](const PostgresRows& rows) {
                             return static_cast<std::size_t>(rows.get<std::int64_t>(0, 0));
                           });
}

JobJournal::Answer<std::vector<StoredJob>> PostgresJournal::load_unfinished(AcceptanceOrder after,
                                                                            std::size_t most) {
  static constexpr PostgresStatement statement = {
      "load_unfinished",
      "SELECT job.*, coalesce($3, clock_timestamp()) FROM load_unfinished($1, $2) job"};
  return read<std::vector<StoredJob>>(
      [this, after, most] {
        PostgresCall call{statement};
        call.parameters.add(static_cast<std::int64_t>(after)).add(static_cast<std::int32_t>(most));
        call.parameters.add(clock());
        return call;
      },
      &read_jobs);
}

JobJournal::Answer<std::vector<StoredJob>> PostgresJournal::load_ended(std::string client,
                                                                       EndPlace before,
                                                                       std::size_t most) {
  static constexpr PostgresStatement statement = {
      "load_ended",
      "SELECT job.*, coalesce($5, clock_timestamp()) FROM stored job "
      "WHERE client = $1 AND state >= 2 "
      "AND ($2::timestamptz IS NULL OR (ended_at, place) < ($2, $3::bigint)) "
      "ORDER BY ended_at DESC, place DESC LIMIT $4::int"};
  return read<std::vector<StoredJob>>(
      [this, client = std::move(client), before, most] {
        std::optional<SystemTime> time;
        if (before.time != SystemTime::max()) time = before.time;
        PostgresCall call{statement};
        call.parameters.add(bytes_of(client)).add(time);
        call.parameters.add(static_cast<std::int64_t>(before.order));
        call.parameters.add(static_cast<std::int32_t>(most)).add(clock());
        return call;
      },
      &read_jobs);
}

JobJournal::Answer<JobPage<StoredJob>> PostgresJournal::list(std::string client, JobQuery query) {
  static constexpr PostgresStatement statement = {
      "list",
      "SELECT last, (it).*, coalesce($9, clock_timestamp()) "
      "FROM list($1, $2, $3, $4, $5, $6, $7, $8, $9)"};
  return read<JobPage<StoredJob>>(
      [this, client = std::move(client), query = std::move(query)] {
        std::optional<std::int16_t> state;
        std::optional<bool> is_delayed;
        if (query.state) {
          state = static_cast<std::int16_t>(stored_state(*query.state));
          const bool is_waiting =
              query.state == JobState::delayed || query.state == JobState::queued;
          if (is_waiting) is_delayed = query.state == JobState::delayed;
        }
        PostgresCall call{statement};
        call.parameters.add(bytes_of(client)).add(state).add(is_delayed);
        call.parameters.add(bytes_unless_empty(query.kind));
        call.parameters.add(bytes_unless_empty(query.signal_name));
        call.parameters.add(static_cast<std::int64_t>(query.after));
        call.parameters.add(static_cast<std::int32_t>(query.most));
        call.parameters.add(std::int32_t{most_looked_at}).add(clock());
        return call;
      },
      &read_page);
}

JobJournal::Answer<std::string> PostgresJournal::read_payload(JobId id, ByteRange range) {
  static constexpr PostgresStatement statement = {"payload_part",
                                                  "SELECT payload_part($1, $2, $3)"};
  return read_part(statement, std::move(id), range);
}

JobJournal::Answer<std::string> PostgresJournal::read_result(JobId id, ByteRange range) {
  static constexpr PostgresStatement statement = {"result_part", "SELECT result_part($1, $2, $3)"};
  return read_part(statement, std::move(id), range);
}

JobJournal::Answer<std::string> PostgresJournal::read_part(PostgresStatement statement, JobId id,
                                                           ByteRange range) {
  return read<std::string>(
      [statement, id = std::move(id), range] {
        PostgresCall call{statement};
        call.parameters.add(uuid_or_none(id)).add(static_cast<std::int64_t>(range.offset));
        call.parameters.add(static_cast<std::int64_t>(range.size));
        return call;
      },
      &read_text);
}

}  // namespace heistd
