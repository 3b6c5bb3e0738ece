#include <algorithm>
#include <heistd/journal/encoded_parameters.hpp>
#include <heistd/journal/sqlite_schema.hpp>
#include <heistd/journal/sqlite_writes.hpp>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace heistd {
namespace {

/// How many finished jobs one request removes at the most, so that it ends soon; the next one goes
/// on.
constexpr int trimmed_at_a_time = 1000;

std::int64_t microseconds(SystemTime time) noexcept { return time.time_since_epoch().count(); }

template <class Enum>
std::int64_t number(Enum value) noexcept {
  return static_cast<std::int64_t>(value);
}

std::int64_t last_piece(AcceptanceOrder order) noexcept { return piece_row(order + 1, 0) - 1; }

}  // namespace

SqliteWrites::SqliteWrites(SqliteDatabase& database, JournalBounds bounds, RunningAttempts& running,
                           RecentJobs& recent)
    : database_(database),
      bounds_(bounds),
      attempts_(running),
      recent_(recent),
      find_(database,
            "SELECT seq, state, attempt, forgiven, max_attempts, payload_bytes, client, signal, "
            "idempotency_key FROM job WHERE id = ?"),
      insert_job_(database,
                  "INSERT INTO job(id, client, kind, parameters, signal, priority, may_start, "
                  "attempt, forgiven, max_attempts, state, idempotency_key, digest, payload_bytes, "
                  "expires_at, timeout, predecessor, follows, request_id) "
                  "VALUES(?, ?, ?, ?, ?, ?, ?, 0, 0, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?)"),
      insert_payload_(database, "INSERT INTO payload(place, bytes) VALUES(?, ?)"),
      insert_result_(database, "INSERT OR REPLACE INTO result(place, bytes) VALUES(?, ?)"),
      drop_payload_(database, "DELETE FROM payload WHERE place BETWEEN ? AND ?"),
      drop_result_(database, "DELETE FROM result WHERE place BETWEEN ? AND ?"),
      drop_job_(database, "DELETE FROM job WHERE seq = ?"),
      set_state_(database, "UPDATE job SET state = ?, attempt = ?, forgiven = ? WHERE seq = ?"),
      set_error_(database, "UPDATE job SET error_code = ?, error_message = ? WHERE seq = ?"),
      set_end_(database,
               "UPDATE job SET state = ?, attempt = ?, ended_at = ?, kept = ?, follows = NULL, "
               "result_description = ?, result_bytes = ?, error_code = ?, error_message = ? "
               "WHERE seq = ?"),
      set_start_(database,
                 "UPDATE job SET may_start = ?, ended_at = NULL, kept = NULL WHERE seq = ?"),
      set_priority_(database,
                    "UPDATE job SET priority = ? "
                    "WHERE id = ? AND ended_at ISNULL AND priority NOTNULL"),
      kept_(database, "SELECT kept FROM job WHERE seq = ?"),
      release_followers_(database, "UPDATE job SET follows = NULL WHERE follows = ?"),
      followers_(database, "SELECT id FROM job WHERE follows = ? ORDER BY seq"),
      left_running_(database, "SELECT id FROM job WHERE ended_at ISNULL AND state = 1"),
      sum_finished_(database, "SELECT coalesce(sum(kept), 0) FROM job WHERE ended_at NOTNULL"),
      oldest_finished_(database,
                       "SELECT seq, kept, ended_at FROM job WHERE ended_at NOTNULL "
                       "ORDER BY ended_at, seq LIMIT 2"),
      make_signal_(database, "INSERT OR IGNORE INTO signal VALUES(?, ?, ?, 0)"),
      put_signal_(database, "INSERT OR REPLACE INTO signal VALUES(?, ?, ?, 1)"),
      drop_signal_(database, "DELETE FROM signal WHERE client = ? AND name = ?"),
      drop_unused_signal_(database,
                          "DELETE FROM signal WHERE client = ?1 AND name = ?2 AND was_put = 0 AND "
                          "NOT EXISTS(SELECT 1 FROM job WHERE client = ?1 AND signal = ?2 AND "
                          "signal NOTNULL AND ended_at ISNULL)"),
      jobs_of_signal_(database,
                      "SELECT id FROM job WHERE client = ? AND signal = ? AND signal NOTNULL "
                      "AND ended_at ISNULL"),
      hold_signal_(database,
                   "INSERT INTO signal VALUES(?, ?, ?, 1) ON CONFLICT DO UPDATE SET was_put = 1"),
      set_pause_(database, "INSERT OR IGNORE INTO pause VALUES(?, ?, ?)"),
      drop_pause_(database, "DELETE FROM pause WHERE client = ? AND what = ? AND name = ?"),
      find_key_(database, "SELECT digest, id FROM idempotency WHERE client = ? AND key = ?"),
      insert_key_(database, "INSERT INTO idempotency VALUES(?, ?, ?, ?, ?)"),
      drop_key_(database, "DELETE FROM idempotency WHERE client = ? AND key = ? AND id = ?"),
      drop_old_keys_(database, "DELETE FROM idempotency WHERE until <= ?") {}

std::optional<SqliteWrites::Standing> SqliteWrites::find(const JobId& id) {
  const auto running = attempts_.find(id);
  std::optional<Standing> job;
  if (find_.with(std::string_view(id)).next()) {
    job.emplace();
    job->order = static_cast<AcceptanceOrder>(find_.number(0));
    job->state = static_cast<StoredState>(find_.number(1));
    job->attempt = static_cast<Attempt>(find_.number(2));
    job->forgiven = static_cast<Attempt>(find_.number(3));
    job->max_attempts = static_cast<Attempt>(find_.number(4));
    job->payload_bytes = static_cast<std::uint64_t>(find_.number(5));
    job->client = find_.text(6);
    job->signal_name = find_.text(7);
    if (!find_.is_null(8)) job->key = find_.text(8);
    RunningAttempts::merge(running, job->state, job->attempt);
  }
  find_.reset();
  return job;
}

/// Nothing when this is not the attempt that the job is at. It may have begun just as the job
/// ended, and then nothing else would end it.
std::optional<SqliteWrites::Standing> SqliteWrites::find_attempt(const JobId& id, Attempt attempt) {
  auto job = find(id);
  if (job && job->state == StoredState::running && job->attempt == attempt) return job;
  ended_.push_back({id, attempt});
  return std::nullopt;
}

/// One that is larger than a piece is read in several parts, when it starts.
void SqliteWrites::note_accepted(const NewJob& job) {
  if (job.payload && byte_count(*job.payload) > piece_bytes) return;
  accepted_.push_back({job.id, job.payload});
}

/// An attempt does not run any more, or the job has ended without one.
void SqliteWrites::note_end(const JobId& id, const Standing& job) {
  ended_.push_back({id, job.attempt});
}

/// The job has ended. An attempt may have begun just then, and nobody tells of its end.
void SqliteWrites::note_no_attempt(const JobId& id) {
  if (const auto attempt = attempts_.find(id)) ended_.push_back({id, *attempt});
}

/// Jobs may be accepted and ended in one transaction.
void SqliteWrites::note_commit() noexcept {
  for (auto& accepted : accepted_) recent_.add(accepted.id, std::move(accepted.upload));
  accepted_.clear();
  for (const auto& ended : ended_) recent_.remove(ended.id);
  for (const auto& ended : ended_) attempts_.end(ended.id, ended.attempt);
  ended_.clear();
}

JobJournal::Submitted SqliteWrites::submit(const NewJob& job, SystemTime now) {
  if (auto answer = answer_of_key(job, now)) return std::move(*answer);
  std::optional<AcceptanceOrder> follows;
  if (!job.after.empty()) {
    const auto predecessor = find(job.after);
    if (!predecessor || predecessor->client != job.client) {
      return {JobJournal::Acceptance::no_predecessor, {}};
    }
    if (!is_end(predecessor->state)) {
      follows = predecessor->order;
    } else if (predecessor->state != StoredState::done) {
      return {JobJournal::Acceptance::predecessor_failed, {}};
    }
  }
  keep_key(job, now);
  insert(job, follows, now);
  if (!follows && job.delay.count() == 0) note_accepted(job);
  return {JobJournal::Acceptance::accepted, job.id, follows.has_value()};
}

/// Nothing when the key stands for no job.
std::optional<JobJournal::Submitted> SqliteWrites::answer_of_key(const NewJob& job,
                                                                 SystemTime now) {
  if (!job.key) return std::nullopt;
  const std::string_view client = job.client;
  const std::string_view key = job.key->key;
  drop_old_keys_.with(microseconds(now)).run();
  std::optional<JobJournal::Submitted> answer;
  if (find_key_.with(client, key).next()) {
    const bool same = find_key_.text(0) == job.key->digest;
    answer = {same ? JobJournal::Acceptance::repeated : JobJournal::Acceptance::conflicting,
              find_key_.text(1)};
  }
  find_key_.reset();
  return answer;
}

/// From now on the key stands for this job.
void SqliteWrites::keep_key(const NewJob& job, SystemTime now) {
  if (!job.key) return;
  insert_key_
      .with(std::string_view(job.client), std::string_view(job.key->key),
            std::string_view(job.key->digest), std::string_view(job.id),
            microseconds(now + idempotency_life))
      .run();
}

void SqliteWrites::insert(const NewJob& job, std::optional<AcceptanceOrder> follows,
                          SystemTime now) {
  const auto parameters = encode(job.parameters);
  const auto payload_bytes = job.payload ? byte_count(*job.payload) : 0;
  std::optional<std::int64_t> priority;
  if (job.priority) priority = number(*job.priority);
  std::optional<std::int64_t> expires_at;
  std::optional<std::int64_t> timeout;
  if (job.ttl) expires_at = microseconds(now + *job.ttl);
  if (job.timeout) timeout = job.timeout->count();
  std::optional<std::string_view> key;
  std::optional<std::string_view> digest;
  if (job.key) key = job.key->key, digest = job.key->digest;
  insert_job_
      .with(std::string_view(job.id), std::string_view(job.client), std::string_view(job.kind),
            std::string_view(parameters), value_of(job.signal_name), priority,
            microseconds(now + job.delay), job.max_attempts, key, digest,
            std::uint64_t{payload_bytes}, expires_at, timeout, value_of(job.after), follows,
            value_of(job.request_id))
      .run();
  const auto order = static_cast<AcceptanceOrder>(database_.last_row());
  store_pieces(insert_payload_, order, job.payload);
  make_signal(job.client, job.signal_name, job.signal_priority);
}

/// In pieces of one size, whatever the size of the blocks.
void SqliteWrites::store_pieces(SqliteStatement& insert, AcceptanceOrder order,
                                const SharedBlocks& blocks) {
  if (!blocks) return;
  std::string piece;
  std::uint64_t stored = 0;
  const auto store = [&] {
    if (!piece.empty()) {
      insert.with(piece_row(order, stored++), std::string_view(piece)).run();
    }
    piece.clear();
  };
  for (std::string_view rest : *blocks) {
    while (!rest.empty()) {
      const auto part = rest.substr(0, piece_bytes - piece.size());
      piece += part;
      rest.remove_prefix(part.size());
      if (piece.size() == piece_bytes) store();
    }
  }
  store();
}

void SqliteWrites::make_signal(std::string_view client, std::string_view name,
                               heist::TaskPriority priority) {
  if (!name.empty()) make_signal_.with(client, name, number(priority)).run();
}

SqliteWrites::Ended SqliteWrites::complete(const JobId& id, Attempt attempt,
                                           const StoredResult& result, SystemTime now) {
  const auto job = find_attempt(id, attempt);
  if (!job) return Effect::late;
  store_pieces(insert_result_, job->order, result.bytes);
  end(id, *job, {.state = StoredState::done, .result = &result}, now);
  trim(now);
  return Effect::stored;
}

SqliteWrites::Ended SqliteWrites::fail(const JobId& id, Attempt attempt, const StoredError& error,
                                       std::optional<std::chrono::milliseconds> retry_after,
                                       SystemTime now) {
  const auto job = find_attempt(id, attempt);
  if (!job) return Effect::late;
  auto ended = retry_after ? fail_attempt(id, *job, error, *retry_after, now)
                           : end(id, *job, {.state = StoredState::failed, .error = &error}, now);
  trim(now);
  return ended;
}

SqliteWrites::Ended SqliteWrites::fail_attempt(const JobId& id, const Standing& job,
                                               const StoredError& error,
                                               std::chrono::milliseconds retry_after,
                                               SystemTime now) {
  if (!job.has_attempts_left()) {
    return end(id, job, {.state = StoredState::dead, .error = &error}, now);
  }
  set_error_.with(std::string_view(error.code), std::string_view(error.message), job.order).run();
  set_state(job.order, StoredState::queued, job.attempt, job.forgiven);
  note_end(id, job);
  set_start_.with(microseconds(now + retry_after), job.order).run();
  return Effect::stored;
}

SqliteWrites::Effect SqliteWrites::release(const JobId& id, Attempt attempt) {
  const auto job = find_attempt(id, attempt);
  if (!job) return Effect::late;
  set_state(job->order, StoredState::queued, job->attempt, job->forgiven + 1);
  note_end(id, *job);
  return Effect::stored;
}

SqliteWrites::Ended SqliteWrites::abort(const JobId& id, const StoredError& why, SystemTime now) {
  const auto job = find(id);
  if (!job || is_end(job->state)) {
    note_no_attempt(id);
    return Effect::late;
  }
  auto ended = abort_job(id, *job, why, now);
  trim(now);
  return ended;
}

SqliteWrites::Ended SqliteWrites::abort_job(const JobId& id, const Standing& job,
                                            const StoredError& why, SystemTime now) {
  return end(id, job, {.state = StoredState::aborted, .error = &why}, now);
}

SqliteWrites::Effect SqliteWrites::set_priority(const JobId& id, heist::TaskPriority priority) {
  set_priority_.with(number(priority), std::string_view(id)).run();
  return database_.changes() > 0 ? Effect::stored : Effect::late;
}

SqliteWrites::Effect SqliteWrites::requeue(const JobId& id, SystemTime now) {
  const auto job = find(id);
  if (!job || job->state != StoredState::dead) return Effect::late;
  finished_bytes() -= finished_record_bytes + job->payload_bytes;
  set_state(job->order, StoredState::queued, job->attempt, job->attempt);
  set_start_.with(microseconds(now), job->order).run();
  make_signal(job->client, job->signal_name, StoredSignal().priority);
  return Effect::stored;
}

SqliteWrites::Effect SqliteWrites::purge(const JobId& id) {
  const auto job = find(id);
  if (!job || !is_end(job->state)) return Effect::late;
  const bool found = kept_.with(job->order).next();
  const auto kept = found ? static_cast<std::uint64_t>(kept_.number(0)) : 0;
  kept_.reset();
  erase(job->order, kept);
  return Effect::stored;
}

JobJournal::Reclaimed SqliteWrites::reclaim(const JobJournal::Backoff& backoff, SystemTime now) {
  JobJournal::Reclaimed reclaimed;
  for (const auto& id : running_jobs()) {
    const auto job = find(id);
    if (!job || job->state != StoredState::running) continue;
    fail_attempt(id, *job, lost_attempt(), backoff(job->attempt - job->forgiven), now);
    ++(job->has_attempts_left() ? reclaimed.queued : reclaimed.dead);
  }
  trim(now);
  return reclaimed;
}

/// Of those that are known to run here, some may have ended in this transaction.
std::vector<JobId> SqliteWrites::running_jobs() {
  std::vector<JobId> ids;
  for (const auto& [id, attempt] : attempts_.all()) ids.push_back(id);
  left_running_.with();
  while (left_running_.next()) ids.push_back(left_running_.text(0));
  left_running_.reset();
  return ids;
}

SqliteWrites::Effect SqliteWrites::set_signal(std::string_view client, std::string_view name,
                                              heist::TaskPriority priority) {
  put_signal_.with(client, name, number(priority)).run();
  return Effect::stored;
}

SqliteWrites::Effect SqliteWrites::set_pause(const StoredPause& what, bool on,
                                             heist::TaskPriority signal_priority) {
  const std::string_view client = what.client;
  const std::string_view name = what.name;
  if (what.of == StoredPause::Of::signal) {
    hold_signal_.with(client, name, number(signal_priority)).run();
  }
  (on ? set_pause_ : drop_pause_).with(client, number(what.of), name).run();
  return Effect::stored;
}

SqliteWrites::Ended SqliteWrites::drop_signal(std::string_view client, std::string_view name,
                                              SystemTime now) {
  drop_signal_.with(client, name).run();
  if (database_.changes() == 0) return Effect::late;
  drop_pause_.with(client, number(StoredPause::Of::signal), name).run();
  std::vector<JobId> ids;
  jobs_of_signal_.with(client, name);
  while (jobs_of_signal_.next()) ids.push_back(jobs_of_signal_.text(0));
  jobs_of_signal_.reset();
  JobJournal::AbortedFollowers aborted{std::string(client), {}};
  for (const auto& id : ids) {
    const auto job = find(id);
    if (is_end(job->state)) continue;
    const auto ended = abort_job(id, *job, aborted_because(signal_deleted), now);
    if (ended.followers) std::ranges::copy(ended.followers->ids, std::back_inserter(aborted.ids));
  }
  trim(now);
  return Ended(std::move(aborted));
}

void SqliteWrites::set_state(AcceptanceOrder order, StoredState state, Attempt attempt,
                             Attempt forgiven) {
  set_state_.with(number(state), attempt, forgiven, order).run();
}

/// With what that means for those that follow the job.
SqliteWrites::Ended SqliteWrites::end(const JobId& id, const Standing& job, const Ending& ending,
                                      SystemTime now) {
  end_alone(id, job, ending, now);
  if (ending.state != StoredState::done) {
    return Ended({job.client, abort_followers(id, job.order, now)});
  }
  if (!followers(job.order).empty()) {  // a look costs less than an update of nothing
    release_followers_.with(job.order).run();
  }
  return Effect::stored;
}

std::vector<JobId> SqliteWrites::followers(AcceptanceOrder order) {
  std::vector<JobId> ids;
  followers_.with(order);
  while (followers_.next()) ids.push_back(followers_.text(0));
  followers_.reset();
  return ids;
}

/// And those that follow them: chains may be long, so this does not call itself.
std::vector<JobId> SqliteWrites::abort_followers(const JobId& id, AcceptanceOrder order,
                                                 SystemTime now) {
  std::vector<JobId> aborted;
  std::vector<std::pair<JobId, AcceptanceOrder>> ended{{id, order}};
  while (!ended.empty()) {
    const auto predecessor = std::move(ended.back());
    ended.pop_back();
    for (auto& follower : followers(predecessor.second)) {
      const auto job = find(follower);
      const auto why = predecessor_failed(predecessor.first);
      end_alone(follower, *job, {.state = StoredState::aborted, .error = &why}, now);
      aborted.push_back(follower);
      ended.emplace_back(std::move(follower), job->order);
    }
  }
  return aborted;
}

void SqliteWrites::end_alone(const JobId& id, const Standing& job, const Ending& ending,
                             SystemTime now) {
  if (first_end_) first_end_ = std::min(*first_end_, now);
  const auto* const result = ending.result;
  const std::uint64_t bytes = result != nullptr && result->bytes ? byte_count(*result->bytes) : 0;
  auto kept = finished_record_bytes + bytes;
  if (ending.state == StoredState::dead) {  // it may be queued again
    kept += job.payload_bytes;
  } else if (job.payload_bytes > 0) {
    drop_payload_.with(piece_row(job.order, 0), last_piece(job.order)).run();
  }
  finished_bytes() += kept;
  std::optional<std::string_view> description;
  std::optional<std::string_view> code;
  std::optional<std::string_view> message;
  if (result != nullptr) description = result->description;
  if (ending.error != nullptr) code = ending.error->code, message = ending.error->message;
  set_end_
      .with(number(ending.state), job.attempt, microseconds(now), kept, description, bytes, code,
            message, job.order)
      .run();
  note_end(id, job);
  free_names(id, job, ending.state);
}

void SqliteWrites::free_names(const JobId& id, const Standing& job, StoredState state) {
  const bool is_key_free = state == StoredState::dead || state == StoredState::aborted;
  if (job.key && is_key_free) {
    drop_key_.with(std::string_view(job.client), std::string_view(*job.key), std::string_view(id))
        .run();
  }
  if (!job.signal_name.empty()) {
    drop_unused_signal_.with(std::string_view(job.client), std::string_view(job.signal_name)).run();
  }
}

void SqliteWrites::note_roll_back() noexcept {
  accepted_.clear();
  ended_.clear();
  finished_bytes_.reset();
  first_end_.reset();
}

std::uint64_t& SqliteWrites::finished_bytes() {
  if (!finished_bytes_) {
    const bool found = sum_finished_.with().next();
    finished_bytes_ = found ? static_cast<std::uint64_t>(sum_finished_.number(0)) : 0;
    sum_finished_.reset();
  }
  return *finished_bytes_;
}

/// True when it is known without a look, so that most ends do without one.
bool SqliteWrites::may_keep_all(SystemTime oldest) {
  return first_end_ && *first_end_ >= oldest && finished_bytes() <= bounds_.finished_bytes;
}

void SqliteWrites::trim(SystemTime now) {
  const auto oldest = now - bounds_.finished_age;
  if (may_keep_all(oldest)) return;
  for (int left = trimmed_at_a_time; left > 0; --left) {
    if (!oldest_finished_.with().next()) break;
    const auto order = static_cast<AcceptanceOrder>(oldest_finished_.number(0));
    const auto kept = static_cast<std::uint64_t>(oldest_finished_.number(1));
    first_end_ = SystemTime(std::chrono::microseconds(oldest_finished_.number(2)));
    const bool is_old = *first_end_ < oldest;
    const bool is_only_one = !oldest_finished_.next();
    oldest_finished_.reset();
    if (is_only_one || (!is_old && finished_bytes() <= bounds_.finished_bytes)) return;
    erase(order, kept);
  }
  oldest_finished_.reset();
}

void SqliteWrites::erase(AcceptanceOrder order, std::uint64_t kept) {
  finished_bytes() -= kept;
  drop_payload_.with(piece_row(order, 0), last_piece(order)).run();
  drop_result_.with(piece_row(order, 0), last_piece(order)).run();
  drop_job_.with(order).run();
}

}  // namespace heistd
