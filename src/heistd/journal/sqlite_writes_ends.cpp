// How attempts and jobs end, with what that means for others, and what is kept of them.
#include <algorithm>
#include <heistd/journal/sqlite_schema.hpp>
#include <heistd/journal/sqlite_writes.hpp>
#include <string_view>
#include <utility>
#include <vector>

namespace heistd {
namespace {

std::int64_t last_piece(AcceptanceOrder order) noexcept { return piece_row(order + 1, 0) - 1; }

}  // namespace

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
  set_start_.with(column_of(now + retry_after), job.order).run();
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
  finished_bytes().all += kept;
  if (ending.state == StoredState::dead) finished_bytes().of_dead += kept;
  std::optional<std::string_view> description;
  std::optional<std::string_view> code;
  std::optional<std::string_view> message;
  if (result != nullptr) description = result->description;
  if (ending.error != nullptr) code = ending.error->code, message = ending.error->message;
  set_end_
      .with(column_of(ending.state), job.attempt, column_of(now), kept, description, bytes, code,
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

SqliteWrites::FinishedBytes& SqliteWrites::finished_bytes() {
  if (!finished_bytes_) {
    const auto sum = [](SqliteStatement& statement) {
      const RunEnd end(statement);
      return statement.with().next() ? static_cast<std::uint64_t>(statement.number(0)) : 0;
    };
    finished_bytes_ = {sum(sum_finished_), sum(sum_dead_)};
  }
  return *finished_bytes_;
}

void SqliteWrites::count_out(std::uint64_t bytes, bool is_dead) {
  finished_bytes().all -= bytes;
  if (is_dead) finished_bytes().of_dead -= bytes;
}

/// True when it is known without a look, so that most ends do without one.
bool SqliteWrites::may_keep_all(SystemTime oldest) {
  return first_end_ && *first_end_ >= oldest && finished_bytes().all <= bounds_.finished_bytes;
}

std::size_t SqliteWrites::trim(SystemTime now) {
  const auto oldest = now - bounds_.finished_age;
  std::size_t dropped = 0;
  while (dropped < JobJournal::trimmed_at_a_time && !may_keep_all(oldest)) {
    const auto job = next_to_drop(oldest);
    if (!job) break;
    erase(job->order, job->bytes, job->is_dead);
    if (job->is_dead) ++dropped_now_;
    ++dropped;
  }
  return dropped;
}

std::size_t SqliteWrites::drop_old_keys(SystemTime now) {
  drop_old_keys_.with(column_of(now), std::int64_t{JobJournal::trimmed_at_a_time}).run();
  return static_cast<std::size_t>(database_.changes());
}

/// The finished job that is to go next, if any is.
std::optional<SqliteWrites::Finished> SqliteWrites::next_to_drop(SystemTime oldest) {
  const auto other = first(oldest_finished_, false);
  const auto dead = first(oldest_finished_, true);
  if (!other && !dead) return std::nullopt;
  const bool is_dead_first = !other || (dead && dead->place() < other->place());
  const auto& first_of_all = is_dead_first ? *dead : *other;
  first_end_ = first_of_all.ended_at;
  if (first_of_all.ended_at < oldest) return first_of_all;
  const auto& bytes = finished_bytes();
  if (bytes.all <= bounds_.finished_bytes) return std::nullopt;
  const bool are_dead_too_many = bytes.of_dead > bounds_.finished_bytes / 2;
  for (const auto& job : {are_dead_too_many ? dead : other, are_dead_too_many ? other : dead}) {
    if (job && !is_newest(*job)) return job;
  }
  return std::nullopt;
}

/// The first row of the statement, which has no more than two.
std::optional<SqliteWrites::Finished> SqliteWrites::first(SqliteStatement& statement,
                                                          bool is_dead) {
  const RunEnd end(statement);
  std::optional<Finished> job;
  if (statement.with(std::int64_t{is_dead}).next()) {
    job = {.order = static_cast<AcceptanceOrder>(statement.number(0)),
           .bytes = static_cast<std::uint64_t>(statement.number(1)),
           .ended_at = SystemTime(std::chrono::microseconds(statement.number(2))),
           .is_dead = is_dead};
    job->is_last = !statement.next();
  }
  return job;
}

/// Whether no finished job, dead or not, has ended later.
bool SqliteWrites::is_newest(const Finished& job) {
  if (!job.is_last) return false;
  const auto other = first(newest_finished_, !job.is_dead);
  return !other || other->place() < job.place();
}

void SqliteWrites::erase(AcceptanceOrder order, std::uint64_t kept, bool is_dead) {
  count_out(kept, is_dead);
  drop_payload_.with(piece_row(order, 0), last_piece(order)).run();
  drop_result_.with(piece_row(order, 0), last_piece(order)).run();
  drop_job_.with(order).run();
}

}  // namespace heistd
