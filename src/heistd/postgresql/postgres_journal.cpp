#include <heistd/backoff.hpp>
#include <heistd/postgresql/postgres_answers.hpp>
#include <heistd/postgresql/postgres_schema.hpp>
#include <unordered_map>

namespace heistd {
namespace {

/// Plans must not depend on how many rows the tables had when they were made, as a queue is empty
/// now and has a million rows later: they go by indexes, and are made once. What the database has
/// for all may be less than a journal promises, so that is set as well.
constexpr PostgresStatement session_settings = {
    "settings",
    "SELECT set_config(name, value, false) FROM (VALUES ('search_path', 'heistd'), "
    "('plan_cache_mode', 'force_generic_plan'), ('enable_seqscan', 'off'), "
    "('enable_bitmapscan', 'off'), ('jit', 'off'), ('synchronous_commit', 'on'), "
    "('default_transaction_isolation', 'read committed')) setting(name, value)"};

/// A server that has gone says nothing against its jobs: the first of them starts again at once.
AttemptPauses pauses_of(Backoff backoff) {
  AttemptPauses pauses{0};
  for (Attempt attempt = 1; attempt < known_pauses; ++attempt) {
    pauses.push_back(backoff(attempt).count());
  }
  return pauses;
}

constexpr PostgresStatement hold_session = {"hold_session", "SELECT hold_session()"};

/// About a minute.
constexpr unsigned renewals_for_a_sweep = 20;
/// So many lanes cost claims little.
constexpr std::int32_t most_unused = 100;
/// It deletes so many in one statement.
constexpr std::int32_t most_forgotten_keys = 20'000;

PostgresUuid new_process() { return uuid_of(make_job_id()).value(); }

}  // namespace

PostgresJournal::PostgresJournal(boost::asio::any_io_executor network, Options options)
    : network_(std::move(network)),
      options_(std::move(options)),
      pauses_(pauses_of(heistd::Backoff())),
      process_(new_process()),
      lease_(network_, options_.lease,
             {.renew = [this] { renew(); }, .lapsed = [this] { on_lapsed(); }}),
      requests_(written_, options_.limits, [this] { return clock(); }),
      written_(network_, options_.target, options_.limits,
               {.on_connected = [this] { begin_session(); },
                .on_opening_refused = [this](const PostgresError& /*over*/) { lease_.end(); }},
               PostgresCall{hold_session}),
      renewed_(network_, options_.target, options_.limits,
               {.on_connected =
                    [this] {
                      renewed_.ask_first({session_settings}, [](const PostgresResult& /*set*/) {});
                      hints_.listen();
                    },
                .on_notification = [this](const auto& hint) { hints_.hear(hint); }}),
      hints_(renewed_, network_, options_.on_hint),
      read_(network_, options_.target, options_.limits, {.on_connected = [this] {
              read_.ask_first({session_settings}, [](const PostgresResult& /*set*/) {});
            }}) {}

PostgresJournal::~PostgresJournal() { requests_.close(); }

/// The jobs are looked for in the same transaction, which has waited for what the earlier session
/// had under way.
void PostgresJournal::begin_session() {
  static constexpr PostgresStatement begin = {"begin_session",
                                              "SELECT its_node FROM begin_session($1, $2, $3, $4)"};
  static constexpr PostgresStatement held = {"held", "SELECT id, attempt FROM held()"};
  written_.ask_first({session_settings}, [](const PostgresResult& /*set*/) {});
  PostgresCall call{begin};
  call.parameters.add(options_.node).add(process_).add(std::int64_t{options_.lease.count()});
  call.parameters.add(std::int32_t{schema_version});
  const auto sent = PostgresLease::Clock::now();
  written_.ask_first(std::move(call),
                     [this, sent](const PostgresResult& begun) { on_session(sent, begun); });
  written_.ask_first({held}, [this](const PostgresResult& rows) {
    if (rows) compare_claims(*rows);
  });
}

void PostgresJournal::on_session(PostgresLease::Clock::time_point sent,
                                 const PostgresResult& begun) {
  if (!begun) return;
  node_ = begun->get<std::int32_t>(0, 0);
  lease_.renewed(sent);
}

/// The database gets back what this server does not know, and this server loses what the database
/// does not. Only this process has claimed for the session's number, since it has its lease: so
/// what it does not know it has never begun, as the answer of the claim was lost.
void PostgresJournal::compare_claims(const PostgresRows& rows) {
  std::unordered_map<JobId, Attempt> known;
  written_.ask_first({hold_session}, [](const PostgresResult& /*held*/) {});
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto uuid = rows.get<PostgresUuid>(row, 0);
    const auto attempt = static_cast<Attempt>(rows.get<std::int32_t>(row, 1));
    const auto id = id_of_uuid(uuid);
    if (held_.find(id, attempt) == nullptr) {
      written_.ask_first(release_call(uuid, attempt, false, false),
                         [](const PostgresResult& /*back*/) {});
    }
    known.emplace(id, attempt);
  }
  lose(held_.keep_only(known));
}

/// On a connection of its own, so that no batch is in its way.
void PostgresJournal::renew() {
  static constexpr PostgresStatement statement = {"renew", "SELECT renew($1, $2)"};
  PostgresCall call{statement};
  call.parameters.add(node_).add(std::int64_t{options_.lease.count()});
  const auto sent = PostgresLease::Clock::now();
  renewed_.ask(std::move(call), [this, sent, node = node_](const PostgresResult& rows) {
    if (!rows || node != node_) return;  // the next one renews it, or it lapses
    if (!rows->get<bool>(0, 0)) return lease_.end();
    lease_.renewed(sent);
    if (++renewals_ % renewals_for_a_sweep != 0) return;
    remove_unused();
    forget_old();
  });
}

/// No renewal waits for the locks that this needs, nor for a slow database that is at it. It has
/// the lanes alone until its transaction ends, so nothing else belongs to that.
void PostgresJournal::remove_unused() {
  static constexpr PostgresStatement statement = {"remove_unused", "SELECT remove_unused($1)"};
  PostgresCall call{statement};
  call.parameters.add(most_unused);
  read_.ask_alone(std::move(call), [](const PostgresResult& /*the next one finds them, too*/) {});
}

/// The database may take all jobs from others until this ends, so nothing else belongs to that
/// transaction.
void PostgresJournal::forget_old() {
  static constexpr PostgresStatement statement = {"forget_old", "SELECT forget_old($1, $2, $3)"};
  PostgresCall call{statement};
  call.parameters.add(options_.finished_age.count()).add(most_forgotten_keys).add(clock());
  read_.ask_alone(std::move(call), [](const PostgresResult& /*the next one finds them, too*/) {});
}

/// What the database still has as this process's is not to be given back as if it had not begun:
/// it stays until the lease is over there, too, and others take it. So this is as another process.
void PostgresJournal::on_lapsed() {
  process_ = new_process();
  node_ = 0;
  lose(held_.keep_only({}));
  written_.drop("the lease of this server has ended");
}

std::optional<SystemTime> PostgresJournal::clock() const {
  if (!options_.clock) return std::nullopt;
  return options_.clock();
}

/// Those that may start at once are to be claimed now, here or by others.
void PostgresJournal::note_accepted(const std::vector<Submitted>& submitted,
                                    const std::vector<std::chrono::milliseconds>& delays) noexcept {
  for (std::size_t i = 0; i < submitted.size(); ++i) {
    const auto& [acceptance, id, follows] = submitted[i];
    if (acceptance == Acceptance::accepted && !follows && delays[i].count() == 0) {
      unclaimed_.add(id);
    }
  }
}

template <class T, class Read>
JobJournal::Answer<T> PostgresJournal::submit(std::vector<NewJob> jobs, Read read) {
  return answer<T>([this, jobs = std::move(jobs), read](auto resolver) mutable {
    std::vector<std::chrono::milliseconds> delays;
    for (const auto& job : jobs) delays.push_back(job.delay);
    requests_.ask(PostgresRequests::Submission{
        std::move(jobs), settle(std::move(resolver), [this, delays = std::move(delays),
                                                      read](std::vector<Submitted>& submitted) {
          note_accepted(submitted, delays);
          return read(submitted);
        })});
  });
}

JobJournal::Answer<JobJournal::Submitted> PostgresJournal::submit(NewJob job) {
  std::vector<NewJob> jobs;
  jobs.push_back(std::move(job));
  return submit<Submitted>(std::move(jobs), [](auto& all) { return std::move(all.front()); });
}

JobJournal::Answer<std::vector<JobJournal::Submitted>> PostgresJournal::submit_all(
    std::vector<NewJob> jobs) {
  return submit<std::vector<Submitted>>(std::move(jobs), [](auto& all) { return std::move(all); });
}

}  // namespace heistd
