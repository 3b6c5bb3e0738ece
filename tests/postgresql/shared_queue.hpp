// SharedQueue: servers that share a database.
#pragma once

#include <gmock/gmock.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "heistd/journal/journal_fixture.hpp"

namespace heistd {

/// A server that keeps what it has lost.
struct QueueServer {
  explicit QueueServer(std::string name, JournalClock clock,
                       milliseconds lease = std::chrono::seconds(10))
      : journal(
            std::move(clock), std::move(name),
            [this](const std::vector<JobId>& ids) {
              const std::lock_guard lock(mutex);
              lost.insert(lost.end(), ids.begin(), ids.end());
              changed.notify_all();
            },
            lease,
            [this] {
              const std::lock_guard lock(mutex);
              ++hints;
              changed.notify_all();
            }) {
    said(journal.abort(id_of(0), {}));  // its session has begun when that is answered
  }

  std::vector<ClaimedJob> claim(std::size_t agents, std::vector<std::string> kinds = {"digest"}) {
    return said(journal.claim({agents, {"alice", "bob"}, std::move(kinds)}));
  }
  std::vector<JobId> claim_ids(ClaimWish wish) {
    std::vector<JobId> ids;
    for (const auto& claimed : said(journal.claim(std::move(wish)))) ids.push_back(claimed.job.id);
    return ids;
  }
  std::vector<JobId> claim_ids(std::size_t agents, std::vector<std::string> kinds = {"digest"}) {
    return claim_ids({agents, {"alice", "bob"}, std::move(kinds)});
  }
  bool wait_for_hint() {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(20), [this] { return hints > 0; });
  }
  int hints_until_now() {
    const std::lock_guard lock(mutex);
    return hints;
  }
  std::vector<JobId> wait_for_loss() {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::seconds(20), [this] { return !lost.empty(); });
    return lost;
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<JobId> lost;
  int hints = 0;
  PostgresOnItsThread journal;
};

/// A server as far as the database can tell, which makes its statements one by one.
struct ServerByHand : OpenSession {
  explicit ServerByHand(const std::string& process = "gen_random_uuid()") {
    run("SET search_path = heistd; SET statement_timeout = '20s'; SELECT begin_session('by "
        "hand', " +
        process + ", 60000, (SELECT number FROM version))");
  }
  void begin() const { run("BEGIN; SELECT hold_session()"); }
};

class SharedQueue : public testing::Test {
 protected:
  void submit(int number, heist::TaskPriority priority = heist::TaskPriority::user_visible,
              const std::string& kind = "digest") {
    auto job = new_job(number);
    job.priority = priority;
    job.kind = kind;
    submit(std::move(job));
  }
  void submit_to_signal(int number) {
    auto job = new_job(number);
    job.signal_name = "night";
    job.priority.reset();
    job.signal_priority = heist::TaskPriority::background;
    submit(std::move(job));
  }
  void submit(NewJob job) {
    EXPECT_EQ(said(one.journal.submit(std::move(job))).acceptance, Acceptance::accepted);
  }
  static void complete(QueueServer& server, int number, Attempt attempt = 1) {
    EXPECT_EQ(said(server.journal.complete(id_of(number), attempt, {})), Effect::stored);
  }
  void submit_with_two_attempts(int number) {
    auto job = new_job(number);
    job.max_attempts = 2;
    submit(std::move(job));
  }
  StoredJob find(int number) { return said(one.journal.find(id_of(number))).value(); }
  /// As if the server had not renewed its lease in time.
  static void let_lapse(const char* name) {
    run_sql(std::string("UPDATE heistd.node SET lease_until = clock_timestamp() WHERE name = '") +
            name + "'");
  }

  InPostgres database;
  SystemTime now{std::chrono::hours(24 * 365 * 50)};
  QueueServer one{"one", [this] { return now; }};
  QueueServer two{"two", [this] { return now; }};
};

}  // namespace heistd
