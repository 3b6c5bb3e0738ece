#include <algorithm>
#include <heistd/journal/encoded_parameters.hpp>
#include <heistd/journal/sqlite_reads.hpp>
#include <heistd/journal/sqlite_schema.hpp>
#include <limits>
#include <string>

namespace heistd {
namespace {

const std::string columns =
    "SELECT seq, id, client, kind, parameters, signal, priority, may_start, attempt, forgiven, "
    "max_attempts, state, idempotency_key, digest, payload_bytes, result_description, "
    "result_bytes, error_code, error_message, ended_at, expires_at, timeout, predecessor, follows, "
    "request_id FROM job ";

std::chrono::milliseconds left_of(SystemTime may_start, SystemTime now) noexcept {
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(may_start - now),
                  std::chrono::milliseconds(0));
}

/// The columns of a row, one after the other.
class Row {
 public:
  explicit Row(SqliteStatement& statement) noexcept : statement_(statement) {}
  template <class Number = std::int64_t>
  Number number() {
    return static_cast<Number>(statement_.number(column_++));
  }
  std::string text() { return statement_.text(column_++); }
  SystemTime time() { return SystemTime(std::chrono::microseconds(number())); }
  template <class Get>
  auto optional(Get get) {
    using Value = decltype((this->*get)());
    if (statement_.is_null(column_)) return ++column_, std::optional<Value>();
    return std::optional<Value>((this->*get)());
  }

 private:
  SqliteStatement& statement_;
  int column_ = 0;
};

JobParameters read_parameters(std::string_view text) {
  auto parameters = decode_parameters(text);
  if (!parameters) throw SqliteError({JournalFault::corrupt, "a job's parameters cannot be read"});
  return std::move(*parameters);
}

void merge(const RunningAttempts::Attempts& running, StoredJob& job) {
  const auto found = running.find(job.id);
  if (found != running.end()) RunningAttempts::merge(found->second, job.state, job.attempt);
}

StoredJob read_job(SqliteStatement& statement, const RunningAttempts::Attempts& running,
                   SystemTime now) {
  Row row(statement);
  StoredJob job;
  job.order = row.number<AcceptanceOrder>();
  job.id = row.text();
  job.client = row.text();
  job.kind = row.text();
  job.parameters = read_parameters(row.text());
  job.signal_name = row.text();
  job.priority = row.optional(&Row::number<heist::TaskPriority>);
  const auto may_start = row.time();
  job.attempt = row.number<Attempt>();
  job.forgiven = row.number<Attempt>();
  job.max_attempts = row.number<Attempt>();
  job.state = row.number<StoredState>();
  merge(running, job);
  if (!is_end(job.state)) job.delay = left_of(may_start, now);
  auto key = row.optional(&Row::text);
  auto digest = row.text();
  if (key) job.key = {std::move(*key), std::move(digest)};
  job.payload_bytes = row.number<std::uint64_t>();
  job.result_description = row.text();
  job.result_bytes = row.number<std::uint64_t>();
  auto error = row.optional(&Row::text);
  auto message = row.text();
  if (error) job.error = {std::move(*error), std::move(message)};
  job.ended_at = row.optional(&Row::time);
  const auto expires_at = row.optional(&Row::time);
  if (expires_at && job.attempt == 0 && !is_end(job.state)) job.ttl = left_of(*expires_at, now);
  const auto timeout = row.optional(&Row::number<>);
  if (timeout) job.timeout = std::chrono::milliseconds(*timeout);
  job.after = row.text();
  job.follows = row.optional(&Row::number<>).has_value();
  job.request_id = row.text();
  return job;
}

/// What rows say of a state: which end it is, or that it is none.
struct Wanted {
  explicit Wanted(std::optional<JobState> state) noexcept {
    if (!state) return;
    (is_end(*state) ? end : none) = static_cast<std::int64_t>(stored_state(*state));
  }
  std::optional<std::int64_t> end;
  std::optional<std::int64_t> none;
};

}  // namespace

SqliteReads::SqliteReads(SqliteDatabase& database, const RunningAttempts& attempts)
    : attempts_(attempts),
      find_(database, columns + "WHERE id = ?"),
      order_of_(database, "SELECT seq FROM job WHERE id = ?"),
      count_unfinished_(database, "SELECT count(*) FROM job WHERE ended_at ISNULL"),
      load_unfinished_(database,
                       columns + "WHERE ended_at ISNULL AND seq > ? ORDER BY seq LIMIT ?"),
      load_ended_(database, columns +
                                "INDEXED BY job_ended WHERE ended_at NOTNULL AND client = ? "
                                "AND (ended_at, seq) < (?, ?) "
                                "ORDER BY ended_at DESC, seq DESC LIMIT ?"),
      list_all_(database, "job_of_client", ""),
      list_dead_(database, "job_dead", "state = 5 AND "),
      signals_(database, "SELECT client, name, priority, was_put FROM signal"),
      pauses_(database, "SELECT client, what, name FROM pause"),
      payload_(database, "SELECT bytes FROM payload WHERE place BETWEEN ? AND ? ORDER BY place"),
      result_(database, "SELECT bytes FROM result WHERE place BETWEEN ? AND ? ORDER BY place") {}

std::optional<StoredJob> SqliteReads::find(const JobId& id, SystemTime now) {
  RunningAttempts::Attempts running;
  if (const auto attempt = attempts_.find(id)) running.emplace(id, *attempt);
  const RunEnd end(find_);
  std::optional<StoredJob> job;
  if (find_.with(std::string_view(id)).next()) job = read_job(find_, running, now);
  return job;
}

std::size_t SqliteReads::count_unfinished() {
  const RunEnd end(count_unfinished_);
  return count_unfinished_.with().next() ? static_cast<std::size_t>(count_unfinished_.number(0))
                                         : 0;
}

std::vector<StoredJob> SqliteReads::load_unfinished(AcceptanceOrder after, std::size_t most,
                                                    SystemTime now) {
  const auto running = attempts_.all();
  std::vector<StoredJob> jobs;
  const RunEnd end(load_unfinished_);
  load_unfinished_.with(after, std::uint64_t{most});
  while (load_unfinished_.next()) jobs.push_back(read_job(load_unfinished_, running, now));
  return jobs;
}

std::vector<StoredJob> SqliteReads::load_ended(std::string_view client, JobJournal::EndPlace before,
                                               std::size_t most, SystemTime now) {
  std::vector<StoredJob> jobs;
  const RunEnd end(load_ended_);
  load_ended_.with(client, column_of(before.time), before.order, std::uint64_t{most});
  while (load_ended_.next()) jobs.push_back(read_job(load_ended_, {}, now));
  return jobs;
}

SqliteReads::Listing::Listing(SqliteDatabase& database, std::string_view index,
                              std::string_view condition)
    : last(database, "SELECT seq FROM job INDEXED BY " + std::string(index) + " WHERE " +
                         std::string(condition) +
                         "client = ? AND seq > ? ORDER BY seq LIMIT 1 OFFSET ?"),
      jobs(database, columns + "INDEXED BY " + std::string(index) + " WHERE " +
                         std::string(condition) +
                         "client = ?1 AND seq > ?2 AND seq <= ?3 AND (?4 IS NULL OR state = ?4) "
                         "AND (?5 IS NULL OR ended_at ISNULL) AND (?6 IS NULL OR kind = ?6) "
                         "AND (?7 IS NULL OR signal = ?7) ORDER BY seq") {}

JobPage<StoredJob> SqliteReads::list(std::string_view client, const JobQuery& query,
                                     SystemTime now) {
  const auto running = attempts_.all();
  auto& listing = query.state == JobState::dead ? list_dead_ : list_all_;
  JobPage<StoredJob> page;
  if (listing.last.with(client, query.after, std::uint64_t{most_looked_at - 1}).next()) {
    page.last = static_cast<AcceptanceOrder>(listing.last.number(0));
  }
  listing.last.reset();
  const RunEnd end(listing.jobs);
  const Wanted wanted(query.state);
  constexpr auto no_last = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  listing.jobs.with(client, query.after, page.last.value_or(no_last), wanted.end, wanted.none,
                    value_of(query.kind), value_of(query.signal_name));
  while (page.jobs.size() <= query.most && listing.jobs.next()) {
    auto job = read_job(listing.jobs, running, now);
    if (!query.state || state_of(job) == *query.state) page.jobs.push_back(std::move(job));
  }
  if (page.jobs.size() > query.most) {
    page.jobs.pop_back();
    page.last = page.jobs.back().order;
  }
  return page;
}

std::vector<StoredSignal> SqliteReads::signals() {
  const RunEnd end(signals_);
  std::vector<StoredSignal> all;
  signals_.with();
  while (signals_.next()) {
    all.push_back({signals_.text(0), signals_.text(1),
                   static_cast<heist::TaskPriority>(signals_.number(2)), signals_.number(3) != 0});
  }
  return all;
}

std::vector<StoredPause> SqliteReads::pauses() {
  const RunEnd end(pauses_);
  std::vector<StoredPause> all;
  pauses_.with();
  while (pauses_.next()) {
    all.push_back(
        {pauses_.text(0), static_cast<StoredPause::Of>(pauses_.number(1)), pauses_.text(2)});
  }
  return all;
}

std::string SqliteReads::payload_part(const JobId& id, ByteRange range) {
  return part(payload_, id, range);
}
std::string SqliteReads::result_part(const JobId& id, ByteRange range) {
  return part(result_, id, range);
}

std::string SqliteReads::part(SqliteStatement& pieces, const JobId& id, ByteRange range) {
  const RunEnd end(pieces);
  const RunEnd end_of_order(order_of_);
  std::string bytes;
  if (range.size == 0 || !order_of_.with(std::string_view(id)).next()) return bytes;
  const auto order = static_cast<AcceptanceOrder>(order_of_.number(0));
  const auto first = range.offset / piece_bytes;
  const auto last = (range.offset + range.size - 1) / piece_bytes;
  pieces.with(piece_row(order, first), piece_row(order, last));
  while (pieces.next()) bytes += pieces.text(0);
  const auto skipped = std::min<std::uint64_t>(range.offset - first * piece_bytes, bytes.size());
  return bytes.substr(skipped, range.size);
}

}  // namespace heistd
