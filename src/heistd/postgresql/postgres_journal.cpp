#include <heistd/backoff.hpp>
#include <heistd/postgresql/postgres_answers.hpp>
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

}  // namespace

PostgresJournal::PostgresJournal(boost::asio::any_io_executor network, Options options)
    : network_(std::move(network)),
      options_(std::move(options)),
      pauses_(pauses_of(heistd::Backoff())),
      lease_(network_, options_.lease,
             {.renew = [this] { renew(); }, .lapsed = [this] { on_lapsed(); }}),
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
  const auto sent = PostgresLease::Clock::now();
  written_.ask_first(std::move(call),
                     [this, sent](const PostgresResult& begun) { on_session(sent, begun); });
}

/// A claim of which the answer was lost is to be given back.
void PostgresJournal::on_session(PostgresLease::Clock::time_point sent,
                                 const PostgresResult& begun) {
  static constexpr PostgresStatement held = {"held", "SELECT id, attempt FROM held()"};
  if (!begun) return;
  lease_.renewed(sent);
  written_.ask_first({held}, [this](const PostgresResult& rows) {
    if (rows) compare_claims(*rows);
  });
}

/// The database gets back what this server does not know, and this server loses what the database
/// does not.
void PostgresJournal::compare_claims(const PostgresRows& rows) {
  std::unordered_map<JobId, Attempt> known;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto uuid = rows.get<PostgresUuid>(row, 0);
    const auto attempt = static_cast<Attempt>(rows.get<std::int32_t>(row, 1));
    const auto id = id_of_uuid(uuid);
    if (held_.find(id, attempt) == nullptr) {
      written_.ask_first(release_call(uuid, attempt, false), [](const PostgresResult& /*back*/) {});
    }
    known.emplace(id, attempt);
  }
  lose(held_.keep_only(known));
}

void PostgresJournal::renew() {
  static constexpr PostgresStatement statement = {"renew", "SELECT renew($1), reclaim_gone($2)"};
  PostgresCall call{statement};
  call.parameters.add(std::int64_t{options_.lease.count()}).add(pauses_);
  const auto sent = PostgresLease::Clock::now();
  written_.ask(std::move(call), [this, sent](const PostgresResult& rows) {
    if (!rows) return;  // a new session renews it, or it lapses
    rows->get<bool>(0, 0) ? lease_.renewed(sent) : lease_.end();
  });
}

/// A session of its own begins anew, and has nothing.
void PostgresJournal::on_lapsed() {
  lose(held_.keep_only({}));
  written_.drop("the lease of this server has ended");
}

std::optional<SystemTime> PostgresJournal::clock() const {
  if (!options_.clock) return std::nullopt;
  return options_.clock();
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

}  // namespace heistd
