#include <heistd/journal/sqlite_schema.hpp>
#include <heistd/journal/sqlite_writes.hpp>
#include <string_view>
#include <utility>
#include <vector>

namespace heistd {

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
      sum_dead_(database,
                "SELECT coalesce(sum(kept), 0) FROM job INDEXED BY job_dead_bytes WHERE state = 5"),
      oldest_finished_(database,
                       "SELECT seq, kept, ended_at FROM job INDEXED BY job_finished "
                       "WHERE ended_at NOTNULL AND (state = 5) = ? "
                       "ORDER BY ended_at, seq LIMIT 2"),
      newest_finished_(database,
                       "SELECT seq, kept, ended_at FROM job INDEXED BY job_finished "
                       "WHERE ended_at NOTNULL AND (state = 5) = ? "
                       "ORDER BY ended_at DESC, seq DESC LIMIT 1"),
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
      take_key_back_(database,
                     "INSERT INTO idempotency SELECT client, idempotency_key, digest, id, ?3 FROM "
                     "job WHERE seq = ?1 AND idempotency_key NOTNULL ON CONFLICT DO UPDATE SET "
                     "digest = excluded.digest, id = excluded.id, until = excluded.until "
                     "WHERE until <= ?2"),
      drop_key_(database, "DELETE FROM idempotency WHERE client = ? AND key = ? AND id = ?"),
      drop_old_key_(database,
                    "DELETE FROM idempotency WHERE client = ? AND key = ? AND until <= ?"),
      drop_old_keys_(database,
                     "DELETE FROM idempotency WHERE (client, key) IN (SELECT client, key "
                     "FROM idempotency WHERE until <= ? ORDER BY until LIMIT ?)") {}

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
  // relaxed: only a number.
  dropped_dead_.fetch_add(std::exchange(dropped_now_, 0), heist::detail::sync::relaxed);
}

SqliteWrites::Effect SqliteWrites::release(const JobId& id, Attempt attempt) {
  const auto job = find_attempt(id, attempt);
  if (!job) return Effect::late;
  set_state(job->order, StoredState::queued, job->attempt, job->forgiven + 1);
  note_end(id, *job);
  return Effect::stored;
}

SqliteWrites::Effect SqliteWrites::set_priority(const JobId& id, heist::TaskPriority priority) {
  set_priority_.with(column_of(priority), std::string_view(id)).run();
  return database_.changes() > 0 ? Effect::stored : Effect::late;
}

SqliteWrites::Effect SqliteWrites::requeue(const JobId& id, SystemTime now) {
  const auto job = find(id);
  if (!job || job->state != StoredState::dead) return Effect::late;
  count_out(finished_record_bytes + job->payload_bytes, true);
  set_state(job->order, StoredState::queued, job->attempt, job->attempt);
  set_start_.with(column_of(now), job->order).run();
  take_key_back_.with(job->order, column_of(now), column_of(now + idempotency_life)).run();
  make_signal(job->client, job->signal_name, StoredSignal().priority);
  return Effect::stored;
}

SqliteWrites::Effect SqliteWrites::purge(const JobId& id) {
  const auto job = find(id);
  if (!job || !is_end(job->state)) return Effect::late;
  const bool found = kept_.with(job->order).next();
  const auto kept = found ? static_cast<std::uint64_t>(kept_.number(0)) : 0;
  kept_.reset();
  erase(job->order, kept, job->state == StoredState::dead);
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

void SqliteWrites::set_state(AcceptanceOrder order, StoredState state, Attempt attempt,
                             Attempt forgiven) {
  set_state_.with(column_of(state), attempt, forgiven, order).run();
}

void SqliteWrites::note_roll_back() noexcept {
  accepted_.clear();
  ended_.clear();
  dropped_now_ = 0;
  finished_bytes_.reset();
  first_end_.reset();
}

}  // namespace heistd
