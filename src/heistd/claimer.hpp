// Claimer: how a server takes jobs from the queue that it shares with others.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <heistd/client.hpp>
#include <heistd/job_service.hpp>
#include <heistd/kind_table.hpp>
#include <heistd/postgresql/postgres_journal.hpp>
#include <heistd/refusals.hpp>
#include <set>
#include <string>
#include <vector>

namespace heistd {

/// Claims jobs whenever there may be some and an agent may have room, and feeds them to the
/// service. Once a heartbeat it looks for new ones anyway, and hears what others have done to its
/// jobs, and which of those have ended that somebody waits for here.
///
/// A server with nothing to do asks the database for less than one statement a second.
///
/// Thread: the network's.   Blocks: never.   Lifetime: within that of all that it is given.
class Claimer {
 public:
  /// Nothing is claimed before start().
  Claimer(PostgresJournal& journal, JobService& service, const ClientTable& clients,
          const KindTable& kinds, std::size_t agents);
  Claimer(const Claimer&) = delete;
  Claimer& operator=(const Claimer&) = delete;

  void start() { beat(); }
  /// Nothing is claimed any more. What was claimed and has not been started goes back at once.
  void stop();

  /// There may be something to claim.
  void claim() noexcept;
  /// These jobs are not this server's any more, as it has lost its lease.
  void lose(const std::vector<JobId>& ids) noexcept;

 private:
  void ask_for_jobs();
  void on_claimed(const JournalResult<std::vector<ClaimedJob>>& claimed);
  void renew_wish();
  Client* take(const ClaimedJob& claimed);
  void refuse(const ClaimedJob& claimed);
  void say_stranger(const StoredJob& job);
  void beat() noexcept;
  void await_beat();
  void look();
  void on_look(const PostgresJournal::Look& look);
  void ask_about_watched();
  void sweep();
  void note_connection(const JournalResult<std::vector<ClaimedJob>>& claimed);
  template <class Step>
  void try_to(Step step) noexcept;

  PostgresJournal& journal_;
  JobService& service_;
  JobKeeper& keeper_;
  const ClientTable& clients_;
  const KindTable& kinds_;
  ClaimWish wish_;
  Refusals refusals_;
  std::set<std::string> strangers_;  ///< clients that this server does not serve
  boost::asio::steady_timer timer_;
  std::size_t beats_ = 0;
  bool is_claiming_ = false;
  bool claims_again_ = false;  ///< once the answer is there
  bool is_looking_ = false;
  bool is_asking_about_watched_ = false;
  bool is_connected_ = true;  ///< as far as claims have said
  bool has_ended_ = false;
};

}  // namespace heistd
