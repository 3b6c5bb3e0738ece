#include <heistd/journal/sqlite_schema.hpp>
#include <heistd/journal/sqlite_starts.hpp>
#include <string>
#include <utility>

namespace heistd {

/// The upload's first piece is read with the job, as a second statement would look at the log anew.
SqliteStarts::SqliteStarts(SqliteDatabase& database, RunningAttempts& attempts)
    : attempts_(attempts),
      find_(database,
            "SELECT state, attempt, follows, (SELECT bytes FROM payload WHERE place = seq << " +
                std::to_string(piece_number_bits) + ") FROM job WHERE id = ?") {}

std::optional<JobJournal::Started> SqliteStarts::start(const JobId& id) {
  auto started = next_attempt(id);
  if (started) attempts_.begin(id, started->attempt);
  return started;
}

std::optional<JobJournal::Started> SqliteStarts::start_first(const JobId& id, std::string upload) {
  attempts_.begin(id, first_attempt);
  return JobJournal::Started{first_attempt, std::move(upload)};
}

/// Nothing when the job is not queued, or follows one that has not ended yet.
std::optional<JobJournal::Started> SqliteStarts::next_attempt(const JobId& id) {
  const auto running = attempts_.find(id);
  const RunEnd end(find_);
  if (!find_.with(std::string_view(id)).next()) return std::nullopt;
  auto state = static_cast<StoredState>(find_.number(0));
  auto attempt = static_cast<Attempt>(find_.number(1));
  RunningAttempts::merge(running, state, attempt);
  if (state != StoredState::queued || !find_.is_null(2)) return std::nullopt;
  return JobJournal::Started{attempt + 1, find_.text(3)};
}

}  // namespace heistd
