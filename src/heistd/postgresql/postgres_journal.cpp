#include <boost/asio/dispatch.hpp>
#include <heistd/limits.hpp>
#include <heistd/postgresql/postgres_fault.hpp>
#include <heistd/postgresql/postgres_journal.hpp>
#include <memory>
#include <type_traits>
#include <utility>

namespace heistd {
namespace {

using Effect = JobJournal::Effect;
using Ended = JobJournal::Ended;
using Bytes = PostgresBytes;

/// How many pauses the database gets that come before another attempt; the last one stays.
constexpr Attempt known_pauses = 64;

/// Plans do not depend on how many rows the tables had when they were made: a queue is empty now
/// and has a million rows later. So these go by indexes, always.
constexpr PostgresStatement session_settings = {
    "settings",
    "SELECT set_config(name, value, false) FROM (VALUES ('search_path', 'heistd'), "
    "('plan_cache_mode', 'force_generic_plan'), ('enable_seqscan', 'off'), "
    "('enable_bitmapscan', 'off'), ('enable_sort', 'off'), ('enable_hashjoin', 'off'), "
    "('enable_mergejoin', 'off'), ('jit', 'off')) setting(name, value)"};

Effect effect_of(bool is_stored) noexcept { return is_stored ? Effect::stored : Effect::late; }

/// The answer to an end that may have ended followers: whether it is stored, whose they are, and
/// which.
Ended read_ended(const PostgresRows& rows) {
  Ended ended = effect_of(rows.get<bool>(0, 0));
  const auto client = rows.get<std::optional<Bytes>>(0, 1);
  for (const auto& id : rows.get<std::vector<PostgresUuid>>(0, 2)) {
    ended.followers.push_back(id_of_uuid(id));
  }
  if (client && !ended.followers.empty()) ended.client = client->bytes;
  return ended;
}

bool read_bool(const PostgresRows& rows) { return rows.get<bool>(0, 0); }
Effect read_effect(const PostgresRows& rows) { return effect_of(read_bool(rows)); }

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

/// That of no job for a text that is no id.
PostgresUuid uuid_or_none(std::string_view id) noexcept {
  return uuid_of(id).value_or(PostgresUuid());
}

/// Settles a promise by what `read` makes of the answer.
template <class Resolver, class Read>
auto settle(std::shared_ptr<Resolver> resolver, Read read) {
  return [resolver = std::move(resolver), read = std::move(read)](auto result) {
    if (!result) {
      resolver->resolve(journal_error(result.error()));
    } else {
      resolver->resolve(read(*result));
    }
  };
}

}  // namespace

PostgresJournal::PostgresJournal(boost::asio::any_io_executor network, Options options)
    : network_(std::move(network)),
      options_(std::move(options)),
      requests_(written_, [this] { return clock(); }),
      written_(network_, options_.target, options_.limits,
               {.on_connected = [this] { begin_session(); }}),
      read_(network_, options_.target, options_.limits, {.on_connected = [this] {
              read_.ask_first({session_settings}, [](const PostgresResult& /*set*/) {});
            }}) {}

PostgresJournal::~PostgresJournal() { requests_.close(); }

void PostgresJournal::begin_session() {
  static constexpr PostgresStatement begin = {"begin_session", "SELECT begin_session($1, $2)"};
  written_.ask_first({session_settings}, [](const PostgresResult& /*set*/) {});
  PostgresCall call{begin};
  call.parameters.add(options_.node).add(std::int64_t{options_.lease.count()});
  written_.ask_first(std::move(call), [](const PostgresResult& /*begun*/) {});
}

std::optional<SystemTime> PostgresJournal::clock() const {
  if (!options_.clock) return std::nullopt;
  return options_.clock();
}

/// Has `ask` called on the network's thread with a resolver, which it shares with its answers.
template <class T, class Ask>
JobJournal::Answer<T> PostgresJournal::answer(Ask ask) {
  auto answer = Answer<T>::with_resolver();
  auto resolver = std::make_shared<heist::Resolver<JournalResult<T>>>(std::move(answer.resolver));
  boost::asio::dispatch(network_, [ask = std::move(ask), resolver = std::move(resolver)]() mutable {
    ask(std::move(resolver));
  });
  return std::move(answer.promise);
}

/// `make` makes the call, for the first time or again.
template <class T, class Make, class Read>
JobJournal::Answer<T> PostgresJournal::write(Make make, Read read) {
  return answer<T>([this, make = std::move(make), read](auto resolver) mutable {
    requests_.ask(PostgresRequests::Other{std::move(make), settle(std::move(resolver), read)});
  });
}

template <class T, class Make, class Read>
JobJournal::Answer<T> PostgresJournal::read(Make make, Read read) {
  return answer<T>([this, make = std::move(make), read](auto resolver) {
    read_.ask(make(), settle(std::move(resolver), read));
  });
}

JobJournal::Answer<JobJournal::Submitted> PostgresJournal::submit(NewJob job) {
  return answer<Submitted>([this, job = std::move(job)](auto resolver) mutable {
    std::vector<NewJob> jobs;
    jobs.push_back(std::move(job));
    requests_.ask(PostgresRequests::Submission{
        std::move(jobs), settle(std::move(resolver), [](std::vector<Submitted>& submitted) {
          return std::move(submitted.front());
        })});
  });
}

JobJournal::Answer<std::vector<JobJournal::Submitted>> PostgresJournal::submit_all(
    std::vector<NewJob> jobs) {
  return answer<std::vector<Submitted>>([this, jobs = std::move(jobs)](auto resolver) mutable {
    requests_.ask(PostgresRequests::Submission{
        std::move(jobs), settle(std::move(resolver), [](std::vector<Submitted>& submitted) {
          return std::move(submitted);
        })});
  });
}

JobJournal::Answer<std::optional<JobJournal::Started>> PostgresJournal::start(JobId id) {
  static constexpr PostgresStatement statement = {"start", "SELECT * FROM start($1, $2, $3)"};
  return write<std::optional<Started>>(
      [id](bool again) {
        PostgresCall call{statement};
        call.parameters.add(uuid_or_none(id)).add(std::int32_t{block_bytes}).add(again);
        return call;
      },
      [this, id](const PostgresRows& rows) -> std::optional<Started> {
        if (rows.empty()) return std::nullopt;
        const auto attempt = static_cast<Attempt>(rows.get<std::int32_t>(0, 0));
        held_.add(id, {rows.get<PostgresDate>(0, 2), rows.get<std::int64_t>(0, 3),
                       rows.get<std::int32_t>(0, 4), attempt});
        const auto block = rows.get<std::optional<Bytes>>(0, 1);
        return Started{attempt, block ? std::string(block->bytes) : std::string()};
      });
}

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
        ask(job, [this, id, resolver](JournalResult<T> ended) {
          if (ended) held_.remove(id);
          if (ended && *ended == Effect::late) count_late();
          resolver->resolve(std::move(ended));
        });
      });
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
            job, std::move(result), [done](PostgresRequests::Result<bool> is_stored) {
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
  auto call = [this, id, attempt, error = std::move(error), retry_after](bool again) {
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
  static constexpr PostgresStatement statement = {"release", "SELECT release($1, $2, $3)"};
  auto call = [id, attempt](bool again) {
    PostgresCall call{statement};
    call.parameters.add(uuid_or_none(id)).add(static_cast<std::int32_t>(attempt)).add(again);
    return call;
  };
  return end_by<Effect>(std::move(id), attempt, std::move(call), &read_effect);
}

/// Ends an attempt by a call of its own.
template <class T, class Make, class Read>
JobJournal::Answer<T> PostgresJournal::end_by(JobId id, Attempt attempt, Make make, Read read) {
  return end_attempt<T>(
      std::move(id), attempt,
      [this, make = std::move(make), read](const HeldJob& job, auto done) mutable {
        auto call = [make = std::move(make), was_asked = job.is_ending](bool again) {
          return make(again || was_asked);
        };
        requests_.ask(PostgresRequests::Other{
            std::move(call), [done, read](const PostgresResult& result) {
              result ? done(read(*result)) : done(journal_error(result.error()));
            }});
      });
}

JobJournal::Answer<Ended> PostgresJournal::abort(JobId id, StoredError why) {
  static constexpr PostgresStatement statement = {
      "abort", "SELECT is_stored, client, coalesce(aborted, '{}') FROM abort($1, $2, $3, $4, $5)"};
  return write<Ended>(
      [this, id = std::move(id), why = std::move(why)](bool again) {
        PostgresCall call{statement};
        call.parameters.add(uuid_or_none(id)).add(bytes_of(why.code)).add(bytes_of(why.message));
        call.parameters.add(again).add(clock());
        return call;
      },
      &read_ended);
}

JobJournal::Answer<Effect> PostgresJournal::set_priority(JobId id, heist::TaskPriority priority) {
  static constexpr PostgresStatement statement = {"set_priority", "SELECT set_priority($1, $2)"};
  return write<Effect>(
      [id = std::move(id), priority](bool /*again*/) {
        PostgresCall call{statement};
        call.parameters.add(uuid_or_none(id)).add(number_of(priority));
        return call;
      },
      &read_effect);
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
      "drop_signal", "SELECT is_stored, $1, aborted FROM drop_signal($1, $2, $3)"};
  return write<Ended>(
      [this, client = std::move(client), name = std::move(name)](bool /*again*/) {
        PostgresCall call{statement};
        call.parameters.add(bytes_of(client)).add(bytes_of(name)).add(clock());
        return call;
      },
      &read_ended);
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
  return read<std::optional<StoredJob>>(
      [this, id = std::move(id)] {
        PostgresCall call{statement};
        call.parameters.add(uuid_or_none(id)).add(clock());
        return call;
      },
      [](const PostgresRows& rows) -> std::optional<StoredJob> {
        auto jobs = read_jobs(rows);
        if (jobs.empty()) return std::nullopt;
        return std::move(jobs.front());
      });
}

JobJournal::Answer<std::size_t> PostgresJournal::count(Which which) {
  static constexpr PostgresStatement unfinished = {"count_unfinished", "SELECT count(*) FROM open"};
  static constexpr PostgresStatement finished = {"count_finished",
                                                 "SELECT count(*) FROM job WHERE state >= 2"};
  return read<std::size_t>(
      [which] { return PostgresCall{which == Which::unfinished ? unfinished : finished}; },
      [](const PostgresRows& rows) {
        return static_cast<std::size_t>(rows.get<std::int64_t>(0, 0));
      });
}

JobJournal::Answer<std::vector<StoredJob>> PostgresJournal::load(Which which, AcceptanceOrder after,
                                                                 std::size_t most) {
  static constexpr PostgresStatement unfinished = {
      "load_unfinished",
      "SELECT job.*, coalesce($3, clock_timestamp()) FROM load_unfinished($1, $2) job"};
  static constexpr PostgresStatement finished = {
      "load_finished",
      "SELECT job.*, coalesce($3, clock_timestamp()) FROM load_finished($1, $2) job"};
  return read<std::vector<StoredJob>>(
      [this, which, after, most] {
        PostgresCall call{which == Which::unfinished ? unfinished : finished};
        call.parameters.add(static_cast<std::int64_t>(after)).add(static_cast<std::int32_t>(most));
        call.parameters.add(clock());
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
