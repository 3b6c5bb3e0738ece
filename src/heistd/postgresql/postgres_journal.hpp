// PostgresJournal: a journal that many servers share.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <heist/detail/sync.hpp>
#include <heistd/journal/job_journal.hpp>
#include <heistd/postgresql/held_jobs.hpp>
#include <heistd/postgresql/postgres_claims.hpp>
#include <heistd/postgresql/postgres_hints.hpp>
#include <heistd/postgresql/postgres_lease.hpp>
#include <heistd/postgresql/postgres_requests.hpp>
#include <heistd/postgresql/postgres_session.hpp>
#include <heistd/postgresql/unclaimed_jobs.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace heistd {

/// Keeps everything in a database of PostgreSQL, whose tables migrate() makes; ADR 0081 says how
/// servers share it. An answer comes when the database has committed what it says.
///
/// The attempts of this journal are those that it has started since it was made, or claimed; who
/// ends another one is late.
///
/// Thread: any for the calls, which go to the executor's thread, the one on which it is made and
///         destroyed.
/// Errors: where the connection was lost before the answer came, a request is made again, unless
///         there is no connection for too long; then it is not known whether it took effect.
class PostgresJournal : public JobJournal {
 public:
  struct Options {
    PostgresTarget target;
    /// The name of this server. While another one of this name has a lease, nothing is written.
    std::string node;
    std::chrono::milliseconds lease = std::chrono::seconds(10);  ///< see PostgresLease
    PostgresLimits limits = {};
    /// For how long the jobs of a day stay after the last one has ended, and no less than a day.
    std::chrono::milliseconds finished_age = JournalBounds().finished_age;
    JournalClock clock = {};  ///< empty: the database's, as all servers have it
    /// These attempts are not this server's any more, which has to end them: it could not renew its
    /// lease, or the database has forgotten a claim. Called on the network's thread.
    std::function<void(const std::vector<JobId>&)> on_lost = [](const std::vector<JobId>&) {};
    /// There may be something to claim, as another server has more than it can start. Called on the
    /// network's thread; may throw std::bad_alloc.
    std::function<void()> on_hint = [] {};
    /// start() gives only jobs that were claimed, and others are not this server's to start.
    bool starts_claims_only = false;
  };

  /// Begins to connect.
  PostgresJournal(boost::asio::any_io_executor network, Options options);
  ~PostgresJournal() override;
  PostgresJournal(const PostgresJournal&) = delete;
  PostgresJournal& operator=(const PostgresJournal&) = delete;

  [[nodiscard]] Answer<Submitted> submit(NewJob job) override;
  [[nodiscard]] Answer<std::vector<Submitted>> submit_all(std::vector<NewJob> jobs) override;
  [[nodiscard]] Answer<std::optional<Started>> start(JobId id,
                                                     heist::TaskPriority priority) override;
  [[nodiscard]] Answer<Ended> complete(JobId id, Attempt attempt, StoredResult result) override;
  [[nodiscard]] Answer<Ended> fail(JobId id, Attempt attempt, StoredError error,
                                   std::optional<std::chrono::milliseconds> retry_after) override;
  [[nodiscard]] Answer<Effect> release(JobId id, Attempt attempt) override;
  [[nodiscard]] Answer<Ended> abort(JobId id, StoredError why) override;
  [[nodiscard]] Answer<Effect> set_priority(JobId id, heist::TaskPriority priority) override;
  [[nodiscard]] Answer<Effect> requeue(JobId id) override;
  [[nodiscard]] Answer<Effect> purge(JobId id) override;
  [[nodiscard]] Answer<Reclaimed> reclaim(Backoff backoff) override;
  [[nodiscard]] Answer<Effect> set_signal(std::string client, std::string name,
                                          heist::TaskPriority priority) override;
  [[nodiscard]] Answer<Ended> drop_signal(std::string client, std::string name) override;
  [[nodiscard]] Answer<Effect> set_pause(StoredPause what, bool on,
                                         heist::TaskPriority signal_priority) override;
  [[nodiscard]] Answer<std::vector<StoredPause>> pauses() override;
  [[nodiscard]] Answer<std::vector<StoredSignal>> signals() override;
  [[nodiscard]] Answer<std::optional<StoredJob>> find(JobId id) override;
  [[nodiscard]] Answer<std::size_t> count_unfinished() override;
  [[nodiscard]] Answer<std::vector<StoredJob>> load_unfinished(AcceptanceOrder after,
                                                               std::size_t most) override;
  /// Servers that share a queue do not ask for this.   Cost: a step for each job of the client.
  [[nodiscard]] Answer<std::vector<StoredJob>> load_ended(std::string client, EndPlace before,
                                                          std::size_t most) override;
  [[nodiscard]] Answer<JobPage<StoredJob>> list(std::string client, JobQuery query) override;
  [[nodiscard]] Answer<std::string> read_payload(JobId id, ByteRange range) override;
  [[nodiscard]] Answer<std::string> read_result(JobId id, ByteRange range) override;
  [[nodiscard]] std::uint64_t late_ends() const noexcept override {
    return late_ends_.load(heist::detail::sync::relaxed);  // relaxed: only a number
  }

  /// Claims the most urgent jobs of these kinds: of each priority no more than the agents that have
  /// nothing of that or of a more urgent one. Each claim counts an attempt, as start() does. None
  /// while the server has no lease. To be asked for again after the answer.
  /// Until start() or release() is called for a claimed job, find() says that it is queued.
  [[nodiscard]] Answer<std::vector<ClaimedJob>> claim(ClaimWish wish);
  /// From now on nothing is claimed, and what was claimed and has not been started goes back.
  void stop_claims();

  /// What others have done to the jobs that this server has claimed.
  struct Look {
    struct Lost {
      JobId id;
      Attempt attempt = 0;
    };
    struct Held {
      JobId id;
      Attempt attempt = 0;
      heist::TaskPriority priority;  ///< now, of the job or of its signal
    };
    std::vector<Lost> lost;  ///< attempts that are not this server's any more
    std::vector<Held> held;  ///< those that are
  };
  [[nodiscard]] Answer<Look> look();
  /// Those of the jobs that have ended, or are not there any more.
  [[nodiscard]] Answer<std::vector<JobId>> ended_of(std::vector<JobId> ids);
  /// Aborts jobs that should have been started by now, a batch of them, and gives what is paused.
  [[nodiscard]] Answer<std::vector<StoredPause>> expire_some();
  /// Answered when all that was asked for before has been.
  [[nodiscard]] Answer<Effect> flush();

 private:
  void begin_session();
  void on_session(PostgresLease::Clock::time_point sent, const PostgresResult& begun);
  void compare_claims(const PostgresRows& rows);
  void renew();
  void remove_unused();
  void forget_old();
  void on_lapsed();

  [[nodiscard]] std::optional<SystemTime> clock() const;
  template <class T, class Ask>
  Answer<T> answer(Ask ask);
  void note_accepted(const std::vector<Submitted>& submitted,
                     const std::vector<std::chrono::milliseconds>& delays) noexcept;
  template <class T, class Read>
  Answer<T> submit(std::vector<NewJob> jobs, Read read);
  template <class T, class Make, class Read>
  Answer<T> write(Make make, Read read);
  template <class T, class Make, class Read>
  Answer<T> read(Make make, Read read);
  template <class T, class Ask>
  Answer<T> end_attempt(JobId id, Attempt attempt, Ask ask);
  template <class T, class Make, class Read>
  Answer<T> end_by(JobId id, Attempt attempt, Make make, Read read);
  Answer<std::string> read_part(PostgresStatement statement, JobId id, ByteRange range);
  void forget(const JobId& id) noexcept;
  void count_late() noexcept;
  std::vector<ClaimedJob> keep_claimed(std::vector<ClaimedJob> claimed);
  std::optional<Started> start_claimed(const JobId& id);
  void give_back(const JobId& id, Attempt attempt);
  void lose(const std::vector<JobId>& ids);
  struct Asked;
  static PostgresCall look_call(const std::vector<Asked>& asked);
  Look compare(const std::vector<Asked>& asked, const PostgresRows& rows);

  const boost::asio::any_io_executor network_;
  const Options options_;
  const AttemptPauses pauses_;  ///< after a server has gone
  PostgresUuid process_;        ///< what this server is until its lease ends
  std::int32_t node_ = 0;       ///< its number in the database; 0: it has none yet
  unsigned renewals_ = 0;
  HeldJobs held_;
  PostgresClaims claims_;
  std::unordered_map<JobId, ClaimedJob> unstarted_;  ///< of those held: claimed
  UnclaimedJobs unclaimed_;
  bool claims_ended_ = false;
  PostgresLease lease_;
  heist::detail::sync::atomic<std::uint64_t> late_ends_{0};
  PostgresRequests requests_;
  PostgresSession written_;
  PostgresSession renewed_;  ///< for the lease
  PostgresHints hints_;
  PostgresSession read_;  ///< so that a large result that is read delays no other answer
};

}  // namespace heistd
