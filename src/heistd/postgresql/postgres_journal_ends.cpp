#include <heistd/postgresql/postgres_answers.hpp>
#include <vector>

namespace heistd {
namespace {

using Effect = JobJournal::Effect;
using Ended = JobJournal::Ended;

/// The answer to an end that may have ended followers: whether it is stored, whose they are, and
/// which.
Ended read_ended(const PostgresRows& rows) {
  if (!rows.get<bool>(0, 0)) return Effect::late;
  JobJournal::AbortedFollowers aborted;
  const auto client = rows.get<std::optional<PostgresBytes>>(0, 1);
  if (client) aborted.client = client->bytes;
  for (const auto& id : rows.get<std::vector<PostgresUuid>>(0, 2)) {
    aborted.ids.push_back(id_of_uuid(id));
  }
  return Ended(std::move(aborted));
}

}  // namespace

/// Calls `ask` with the claim and what to do with its answer. Whoever ends an attempt that this
/// journal does not know as its own is late.
template <class T, class Ask>
JobJournal::Answer<T> PostgresJournal::end_attempt(JobId id, Attempt attempt, Ask ask) {
  return answer<T>(
      [this, id = std::move(id), attempt, ask = std::move(ask)](auto resolver) mutable {
        auto* const held = held_.find(id, attempt);
        if (held == nullptr) {
          count_late();
          return resolver->resolve(T(Effect::late));
        }
        const HeldJob job = *held;
        held->is_ending = true;
        unstarted_.erase(id);
        ask(job, [this, id, attempt, resolver = std::move(resolver)](JournalResult<T> ended) {
          if (ended) held_.remove(id, attempt);
          if (ended && *ended == Effect::late) count_late();
          resolver->resolve(std::move(ended));
        });
      });
}

/// The job has ended, whatever was done with it here.
void PostgresJournal::forget(const JobId& id) noexcept {
  held_.remove(id);
  unstarted_.erase(id);
}

void PostgresJournal::count_late() noexcept {
  late_ends_.fetch_add(1, heist::detail::sync::relaxed);  // relaxed: only a number
}

JobJournal::Answer<Ended> PostgresJournal::complete(JobId id, Attempt attempt,
                                                    StoredResult result) {
  return end_attempt<Ended>(
      std::move(id), attempt,
      [this, result = std::move(result)](const HeldJob& job, auto done) mutable {
        requests_.ask(PostgresRequests::Completion{
            job, std::move(result),
            [done = std::move(done)](PostgresRequests::Result<bool> is_stored) {
              is_stored ? done(Ended(effect_of(*is_stored)))
                        : done(journal_error(is_stored.error()));
            }});
      });
}

JobJournal::Answer<Ended> PostgresJournal::fail(
    JobId id, Attempt attempt, StoredError error,
    std::optional<std::chrono::milliseconds> retry_after) {
  static constexpr PostgresStatement statement = {
      "fail",
      "SELECT is_stored, client, coalesce(aborted, '{}') FROM fail($1, $2, $3, $4, $5, $6, $7)"};
  auto call = [this, id, attempt, error = std::move(error), retry_after](const HeldJob& /*any*/,
                                                                         bool again) {
    std::optional<std::int64_t> pause;
    if (retry_after) pause = retry_after->count();
    PostgresCall call{statement};
    call.parameters.add(uuid_or_none(id)).add(static_cast<std::int32_t>(attempt));
    call.parameters.add(bytes_of(error.code)).add(bytes_of(error.message)).add(pause);
    call.parameters.add(again).add(clock());
    return call;
  };
  return end_by<Ended>(std::move(id), attempt, std::move(call), &read_ended);
}

JobJournal::Answer<Effect> PostgresJournal::release(JobId id, Attempt attempt) {
  auto call = [id, attempt](const HeldJob& job, bool again) {
    return release_call(uuid_or_none(id), attempt, job.is_started, again);
  };
  return end_by<Effect>(std::move(id), attempt, std::move(call), &read_effect);
}

/// Ends an attempt by a call of its own.
template <class T, class Make, class Read>
JobJournal::Answer<T> PostgresJournal::end_by(JobId id, Attempt attempt, Make make, Read read) {
  return end_attempt<T>(
      std::move(id), attempt,
      [this, make = std::move(make), read](const HeldJob& job, auto done) mutable {
        auto call = [make = std::move(make), job](bool again) {
          return make(job, again || job.is_ending);
        };
        requests_.ask(PostgresRequests::Other{
            std::move(call), [done = std::move(done), read](const PostgresResult& result) {
              done(read_answer(result, read));
            }});
      });
}

JobJournal::Answer<Ended> PostgresJournal::abort(JobId id, StoredError why) {
  static constexpr PostgresStatement statement = {
      "abort", "SELECT is_stored, client, coalesce(aborted, '{}') FROM abort($1, $2, $3, $4, $5)"};
  return write<Ended>(
      [this, id, why = std::move(why)](bool again) {
        PostgresCall call{statement};
        call.parameters.add(uuid_or_none(id)).add(bytes_of(why.code)).add(bytes_of(why.message));
        call.parameters.add(again).add(clock());
        return call;
      },
      [this, id](const PostgresRows& rows) {
        auto ended = read_ended(rows);
        if (ended == Effect::stored) forget(id);
        return ended;
      });
}

JobJournal::Answer<Effect> PostgresJournal::set_priority(JobId id, heist::TaskPriority priority) {
  static constexpr PostgresStatement statement = {"set_priority", "SELECT set_priority($1, $2)"};
  return write<Effect>(
      [id, priority](bool /*again*/) {
        PostgresCall call{statement};
        call.parameters.add(uuid_or_none(id)).add(number_of(priority));
        return call;
      },
      [this, id](const PostgresRows& rows) {
        const auto lane = rows.get<std::optional<std::int32_t>>(0, 0);
        if (lane) held_.note_lane(id, *lane);
        return effect_of(lane.has_value());
      });
}

JobJournal::Answer<Effect> PostgresJournal::requeue(JobId id) {
  static constexpr PostgresStatement statement = {"requeue", "SELECT requeue($1, $2, $3)"};
  return write<Effect>(
      [this, id = std::move(id)](bool again) {
        PostgresCall call{statement};
        call.parameters.add(uuid_or_none(id)).add(again).add(clock());
        return call;
      },
      &read_effect);
}

JobJournal::Answer<Effect> PostgresJournal::purge(JobId id) {
  static constexpr PostgresStatement statement = {"purge", "SELECT purge($1, $2)"};
  return write<Effect>(
      [id = std::move(id)](bool again) {
        PostgresCall call{statement};
        call.parameters.add(uuid_or_none(id)).add(again);
        return call;
      },
      &read_effect);
}

JobJournal::Answer<JobJournal::Reclaimed> PostgresJournal::reclaim(Backoff backoff) {
  static constexpr PostgresStatement statement = {
      "reclaim_jobs", "SELECT * FROM reclaim_jobs(this_node(), $1, $2)"};
  std::vector<std::int64_t> pauses;
  for (Attempt attempt = 1; attempt <= known_pauses; ++attempt) {
    pauses.push_back(backoff(attempt).count());
  }
  return write<Reclaimed>(
      [this, pauses = std::move(pauses)](bool /*again*/) {
        PostgresCall call{statement};
        call.parameters.add(pauses).add(clock());
        return call;
      },
      [this](const PostgresRows& rows) {
        held_.clear();
        unstarted_.clear();
        return Reclaimed{static_cast<std::size_t>(rows.get<std::int64_t>(0, 0)),
                         static_cast<std::size_t>(rows.get<std::int64_t>(0, 1))};
      });
}

JobJournal::Answer<Effect> PostgresJournal::set_signal(std::string client, std::string name,
                                                       heist::TaskPriority priority) {
  static constexpr PostgresStatement statement = {"set_signal",
                                                  "SELECT FROM set_signal($1, $2, $3)"};
  return write<Effect>(
      [client = std::move(client), name = std::move(name), priority](bool /*again*/) {
        PostgresCall call{statement};
        call.parameters.add(bytes_of(client)).add(bytes_of(name)).add(number_of(priority));
        return call;
      },
      [](const PostgresRows& /*none*/) { return Effect::stored; });
}

JobJournal::Answer<Ended> PostgresJournal::drop_signal(std::string client, std::string name) {
  static constexpr PostgresStatement statement = {
      "drop_signal", "SELECT is_stored, $1, aborted, claimed FROM drop_signal($1, $2, $3, $4)"};
  return write<Ended>(
      [this, client = std::move(client), name = std::move(name)](bool again) {
        PostgresCall call{statement};
        call.parameters.add(bytes_of(client)).add(bytes_of(name)).add(again).add(clock());
        return call;
      },
      [this](const PostgresRows& rows) {
        for (const auto& id : rows.get<std::vector<PostgresUuid>>(0, 3)) {
          forget(id_of_uuid(id));
        }
        return read_ended(rows);
      });
}

JobJournal::Answer<Effect> PostgresJournal::set_pause(StoredPause what, bool on,
                                                      heist::TaskPriority signal_priority) {
  static constexpr PostgresStatement statement = {"set_pause",
                                                  "SELECT FROM set_pause($1, $2, $3, $4, $5)"};
  return write<Effect>(
      [what = std::move(what), on, signal_priority](bool /*again*/) {
        PostgresCall call{statement};
        call.parameters.add(bytes_of(what.client)).add(static_cast<std::int16_t>(what.of));
        call.parameters.add(bytes_of(what.name)).add(on).add(number_of(signal_priority));
        return call;
      },
      [](const PostgresRows& /*none*/) { return Effect::stored; });
}

}  // namespace heistd
