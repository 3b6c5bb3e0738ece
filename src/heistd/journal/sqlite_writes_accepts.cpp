// How jobs are accepted, with their payloads and keys.
#include <heistd/journal/encoded_parameters.hpp>
#include <heistd/journal/sqlite_schema.hpp>
#include <heistd/journal/sqlite_writes.hpp>
#include <string_view>
#include <utility>

namespace heistd {

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
  drop_old_key_.with(client, key, column_of(now)).run();
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
            column_of(now + idempotency_life))
      .run();
}

void SqliteWrites::insert(const NewJob& job, std::optional<AcceptanceOrder> follows,
                          SystemTime now) {
  const auto parameters = encode(job.parameters);
  const auto payload_bytes = job.payload ? byte_count(*job.payload) : 0;
  std::optional<std::int64_t> priority;
  if (job.priority) priority = column_of(*job.priority);
  std::optional<std::int64_t> expires_at;
  std::optional<std::int64_t> timeout;
  if (job.ttl) expires_at = column_of(now + *job.ttl);
  if (job.timeout) timeout = job.timeout->count();
  std::optional<std::string_view> key;
  std::optional<std::string_view> digest;
  if (job.key) key = job.key->key, digest = job.key->digest;
  insert_job_
      .with(std::string_view(job.id), std::string_view(job.client), std::string_view(job.kind),
            std::string_view(parameters), value_of(job.signal_name), priority,
            column_of(now + job.delay), job.max_attempts, key, digest, std::uint64_t{payload_bytes},
            expires_at, timeout, value_of(job.after), follows, value_of(job.request_id))
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
  if (!name.empty()) make_signal_.with(client, name, column_of(priority)).run();
}

}  // namespace heistd
