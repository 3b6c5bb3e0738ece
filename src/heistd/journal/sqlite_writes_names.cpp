// What is stored of signals, and of what is paused.
#include <algorithm>
#include <heistd/journal/sqlite_schema.hpp>
#include <heistd/journal/sqlite_writes.hpp>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace heistd {

SqliteWrites::Effect SqliteWrites::set_signal(std::string_view client, std::string_view name,
                                              heist::TaskPriority priority) {
  put_signal_.with(client, name, column_of(priority)).run();
  return Effect::stored;
}

SqliteWrites::Effect SqliteWrites::set_pause(const StoredPause& what, bool on,
                                             heist::TaskPriority signal_priority) {
  const std::string_view client = what.client;
  const std::string_view name = what.name;
  if (what.of == StoredPause::Of::signal) {
    hold_signal_.with(client, name, column_of(signal_priority)).run();
  }
  (on ? set_pause_ : drop_pause_).with(client, column_of(what.of), name).run();
  return Effect::stored;
}

SqliteWrites::Ended SqliteWrites::drop_signal(std::string_view client, std::string_view name,
                                              SystemTime now) {
  drop_signal_.with(client, name).run();
  if (database_.changes() == 0) return Effect::late;
  drop_pause_.with(client, column_of(StoredPause::Of::signal), name).run();
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

}  // namespace heistd
