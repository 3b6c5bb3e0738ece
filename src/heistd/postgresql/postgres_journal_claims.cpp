// How a server takes jobs from the queue, and hears what others do to them.
#include <heistd/limits.hpp>
#include <heistd/postgresql/postgres_answers.hpp>
#include <utility>

namespace heistd {
namespace {

/// How many late jobs are aborted at a time.
constexpr std::int32_t most_expired = 100;

/// A row of nulls stands for none.
std::vector<StoredPause> read_outer_pauses(const PostgresRows& rows) {
  std::vector<StoredPause> pauses;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto client = rows.get<std::optional<PostgresBytes>>(row, 0);
    if (!client) continue;
    pauses.push_back({std::string(client->bytes),
                      static_cast<StoredPause::Of>(rows.get<std::int16_t>(row, 1)),
                      std::string(rows.get<PostgresBytes>(row, 2).bytes)});
  }
  return pauses;
}

}  // namespace

/// An attempt that look() has asked about.
struct PostgresJournal::Asked {
  JobId id;
  std::int64_t place = 0;
  Attempt attempt = 0;
};

/// Of a claimed job the database has counted the attempt already.
JobJournal::Answer<std::optional<JobJournal::Started>> PostgresJournal::start(
    JobId id, heist::TaskPriority /*a claim has seen to that*/) {
  static constexpr PostgresStatement statement = {"start", "SELECT * FROM start($1, $2, $3)"};
  auto call = [id](bool again) {
    PostgresCall call{statement};
    call.parameters.add(uuid_or_none(id)).add(std::int32_t{block_bytes}).add(again);
    return call;
  };
  auto read = [this, id](const PostgresRows& rows) -> std::optional<Started> {
    if (rows.empty()) return std::nullopt;
    const auto attempt = static_cast<Attempt>(rows.get<std::int32_t>(0, 0));
    held_.add(id, {rows.get<PostgresDate>(0, 2), rows.get<std::int64_t>(0, 3),
                   rows.get<std::int32_t>(0, 4), attempt, true});
    const auto block = rows.get<std::optional<PostgresBytes>>(0, 1);
    return Started{attempt, block ? std::string(block->bytes) : std::string()};
  };
  return answer<std::optional<Started>>(
      [this, id, call = std::move(call), read = std::move(read)](auto resolver) mutable {
        auto claimed = start_claimed(id);
        if (claimed || options_.starts_claims_only) return resolver->resolve(std::move(claimed));
        requests_.ask(
            PostgresRequests::Other{std::move(call), settle(std::move(resolver), std::move(read))});
      });
}

/// Nothing starts without a lease, as it may be another server's by now.
std::optional<JobJournal::Started> PostgresJournal::start_claimed(const JobId& id) {
  const auto claimed = unstarted_.find(id);
  if (claimed == unstarted_.end() || !lease_.holds()) return std::nullopt;
  Started started{claimed->second.job.attempt, std::move(claimed->second.block)};
  unstarted_.erase(claimed);
  auto* const held = held_.find(id, started.attempt);
  if (held == nullptr) return std::nullopt;
  held->is_started = true;
  return started;
}

JobJournal::Answer<std::vector<ClaimedJob>> PostgresJournal::claim(ClaimWish wish) {
  return answer<std::vector<ClaimedJob>>([this, wish = std::move(wish)](const auto& resolver) {
    if (!lease_.holds() || claims_ended_) return resolver->resolve(std::vector<ClaimedJob>());
    unclaimed_.begin_claim();
    requests_.ask(PostgresRequests::Other{
        [this, wish](bool /*again*/) { return claims_.call(wish, held_, pauses_, clock()); },
        settle(resolver, [this](const PostgresRows& rows) {
          auto claimed = keep_claimed(claims_.take(rows, held_));
          if (!claimed.empty()) hints_.note_success();
          if (unclaimed_.end_claim()) hints_.tell();
          return claimed;
        })});
  });
}

/// What comes when claims have ended goes back.
std::vector<ClaimedJob> PostgresJournal::keep_claimed(std::vector<ClaimedJob> claimed) {
  for (auto& one : claimed) {
    one.job.state = StoredState::queued;
    unclaimed_.remove(one.job.id);
    unstarted_.insert_or_assign(one.job.id, one);
  }
  if (!claims_ended_) return claimed;
  stop_claims();
  return {};
}

void PostgresJournal::stop_claims() {
  boost::asio::dispatch(network_, [this] {
    claims_ended_ = true;
    unclaimed_.clear();
    for (const auto& [id, claimed] : std::exchange(unstarted_, {})) {
      give_back(id, claimed.job.attempt);
    }
  });
}

/// If that cannot be now, the next session does it, as this server does not know the job any more.
void PostgresJournal::give_back(const JobId& id, Attempt attempt) {
  held_.remove(id, attempt);
  auto call = [id, attempt](bool again) {
    return release_call(uuid_or_none(id), attempt, false, again);
  };
  requests_.ask(PostgresRequests::Other{std::move(call), [](const PostgresResult& /*none*/) {}});
}

void PostgresJournal::lose(const std::vector<JobId>& ids) {
  for (const auto& id : ids) unstarted_.erase(id);
  if (!ids.empty()) options_.on_lost(ids);
}

PostgresCall PostgresJournal::look_call(const std::vector<Asked>& asked) {
  static constexpr PostgresStatement statement = {
      "look",
      "SELECT o.place, o.attempt, coalesce(l.priority, s.priority), o.lane FROM open o JOIN lane l "
      "USING (lane) LEFT JOIN signal s USING (signal) WHERE o.place = ANY($1) AND o.node IS NOT "
      "NULL"};
  std::vector<std::int64_t> places;
  for (const auto& one : asked) places.push_back(one.place);
  PostgresCall call{statement};
  call.parameters.add(places);
  return call;
}

JobJournal::Answer<PostgresJournal::Look> PostgresJournal::look() {
  return answer<Look>([this](auto resolver) {
    auto asked = std::make_shared<std::vector<Asked>>();
    for (const auto& [id, held] : held_.all()) asked->push_back({id, held.place, held.attempt});
    if (asked->empty()) return resolver->resolve(Look());
    read_.ask(look_call(*asked),
              settle(std::move(resolver),
                     [this, asked](const PostgresRows& rows) { return compare(*asked, rows); }));
  });
}

/// What is ending has perhaps ended so, and its own answer says that, or it is asked for again.
PostgresJournal::Look PostgresJournal::compare(const std::vector<Asked>& asked,
                                               const PostgresRows& rows) {
  struct Found {
    Attempt attempt;
    heist::TaskPriority priority;
    std::int32_t lane;
  };
  std::unordered_map<std::int64_t, Found> found;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    found.emplace(rows.get<std::int64_t>(row, 0),
                  Found{static_cast<Attempt>(rows.get<std::int32_t>(row, 1)),
                        static_cast<heist::TaskPriority>(rows.get<std::int16_t>(row, 2)),
                        rows.get<std::int32_t>(row, 3)});
  }
  Look look;
  for (const auto& one : asked) {
    const auto* const held = held_.find(one.id, one.attempt);
    if (held == nullptr || held->is_ending) continue;
    const auto now = found.find(one.place);
    if (now != found.end() && now->second.attempt == one.attempt) {
      held_.note_lane(one.id, now->second.lane);
      look.held.push_back({one.id, one.attempt, now->second.priority});
      continue;
    }
    held_.remove(one.id, one.attempt);
    unstarted_.erase(one.id);
    look.lost.push_back({one.id, one.attempt});
  }
  return look;
}

JobJournal::Answer<std::vector<JobId>> PostgresJournal::ended_of(std::vector<JobId> ids) {
  static constexpr PostgresStatement statement = {
      "ended_of",
      "SELECT id FROM unnest($1) asked(id) WHERE NOT EXISTS (SELECT FROM job WHERE job.id = "
      "asked.id AND state < 2)"};
  return read<std::vector<JobId>>(
      [ids = std::move(ids)] {
        std::vector<PostgresUuid> uuids;
        for (const auto& id : ids) uuids.push_back(uuid_or_none(id));
        PostgresCall call{statement};
        call.parameters.add(uuids);
        return call;
      },
      [](const PostgresRows& rows) {
        std::vector<JobId> ended;
        for (std::size_t row = 0; row < rows.size(); ++row) {
          ended.push_back(id_of_uuid(rows.get<PostgresUuid>(row, 0)));
        }
        return ended;
      });
}

/// One statement for both: what a server asks for when it has nothing to do is to be little.
JobJournal::Answer<std::vector<StoredPause>> PostgresJournal::expire_some() {
  static constexpr PostgresStatement statement = {
      "expire_some",
      "SELECT p.client, p.what, p.name FROM (SELECT expire_some($1, $2)) expired LEFT JOIN pause p "
      "ON true"};
  return write<std::vector<StoredPause>>(
      [this](bool /*again*/) {
        PostgresCall call{statement};
        call.parameters.add(most_expired).add(clock());
        return call;
      },
      &read_outer_pauses);
}

JobJournal::Answer<JobJournal::Effect> PostgresJournal::flush() {
  static constexpr PostgresStatement statement = {"flush", "SELECT true"};
  return write<Effect>([](bool /*again*/) { return PostgresCall{statement}; }, &read_effect);
}

}  // namespace heistd
