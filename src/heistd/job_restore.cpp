#include <heistd/backoff.hpp>
#include <heistd/job_keeper.hpp>
#include <heistd/job_restore.hpp>
#include <heistd/job_summary.hpp>
#include <heistd/stored_result.hpp>
#include <iostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace heistd {
namespace {

constexpr std::size_t jobs_at_once = 1000;
/// Finished jobs are loaded so many at a time: no more than these in vain.
constexpr std::size_t ended_at_once = 64;
/// Every so many jobs a line says how far it is.
constexpr std::size_t jobs_for_a_line = 100'000;

/// What one start restores.
class Restore {
 public:
  Restore(JobService& service, const ClientTable& clients, const KindTable& kinds)
      : service_(service),
        journal_(service.keeper()->journal()),
        clients_(clients),
        kinds_(kinds) {}

  RestoredJobs run() {
    begun_ = system_time();
    // First of all, as the journal drops signals of which only jobs were left that die now.
    restore_names();
    restored_.dead = said(journal_.reclaim(Backoff())).dead;
    restore_unfinished();
    restore_finished();
    drop_signals_that_are_gone();
    // This may end some, which were else restored a second time, as finished ones.
    for (const auto& client : clients_.all()) service_.post_waiting(*client);
    return restored_;
  }

  void restore_names() {
    for (const auto& signal : said(journal_.signals())) restore(signal);
    for (const auto& pause : said(journal_.pauses())) restore(pause);
  }

 private:
  /// The answer, for which the caller has time.
  template <class T>
  T said(const heist::Promise<JournalResult<T>>& answer) {
    auto result = answer.get();
    if (!result) {
      throw JournalRefused(
          service_.keeper()->is_shared() ? "the database of --journal" : "the directory of --data",
          result.error());
    }
    return std::move(*result);
  }

  void restore(const StoredSignal& signal) {
    if (auto* const client = clients_.find(signal.client)) {
      client->signals.restore(signal.name, signal.priority)->was_put = signal.was_put;
    }
  }

  void restore(const StoredPause& pause) {
    auto* const client = clients_.find(pause.client);
    if (client == nullptr) return;
    if (pause.of == StoredPause::Of::signal) {
      const auto group = client->signals.find(pause.name);
      if (group) group->pause.set(true);
    } else if (const auto* const kind = kinds_.find(pause.name)) {
      client->kind_pauses.of(*kind)->set(true);
    }
  }

  /// The journal has dropped signals whose last jobs have died now, so they go here, too.
  void drop_signals_that_are_gone() {
    std::set<std::pair<std::string, std::string>> stored;
    for (auto& signal : said(journal_.signals())) {
      stored.emplace(std::move(signal.client), std::move(signal.name));
    }
    for (const auto& client : clients_.all()) {
      const auto signals = client->signals.all();
      for (const auto& [name, group] : signals) {
        if (!stored.contains({client->name, name})) client->signals.drop_unused(name, *group);
      }
    }
  }

  template <class Use>
  void each_unfinished(Use use) {
    AcceptanceOrder last = 0;
    for (;;) {
      const auto jobs = said(journal_.load_unfinished(last, jobs_at_once));
      if (jobs.empty()) return;
      last = jobs.back().order;
      for (const auto& job : jobs) use(job);
    }
  }

  void restore_unfinished() {
    const auto total = said(journal_.count_unfinished());
    std::size_t seen = 0;
    each_unfinished([&](const StoredJob& job) {
      auto* const client = clients_.find(job.client);
      const auto* const kind = kinds_.find(job.kind);
      if (client == nullptr || kind == nullptr || !takes(*kind, job.parameters)) {
        ++restored_.left;
      } else {
        service_.restore(*client, *kind, job);
        ++restored_.unfinished;
      }
      if (++seen % jobs_for_a_line == 0) {
        std::cout << "heistd: " << seen << " of " << total << " jobs are back" << std::endl;
      }
    });
  }

  /// It restores the oldest first, as the newest are to stay for longest.
  void restore_finished() {
    for (const auto& client : clients_.all()) {
      const auto newest = load_newest(*client);
      for (auto job = newest.rbegin(); job != newest.rend(); ++job) restore_finished(*client, *job);
    }
  }

  void restore_finished(Client& client, const StoredJob& job) {
    const auto* const kind = kinds_.find(job.kind);
    if (kind == nullptr) return;
    service_.restore_finished(client, *kind, job, result_of(job));
    ++restored_.finished;
  }

  /// Loads as many as the client may have. All that have died now are looked at, too.
  std::vector<StoredJob> load_newest(Client& client) {
    std::vector<StoredJob> newest;
    std::uint64_t bytes = 0;
    JobJournal::EndPlace before;
    for (;;) {
      auto jobs = said(journal_.load_ended(client.name, before, ended_at_once));
      if (jobs.empty()) return newest;
      before = {*jobs.back().ended_at, jobs.back().order};
      for (auto& job : jobs) {
        const bool has_died = has_died_now(job);
        const bool has_room = client.jobs.has_room_for(newest.size(), bytes);
        if (!has_died && !has_room) return newest;
        if (has_died) ++client.stats_of(priority_of(job, client)).dead;
        if (!has_room) continue;
        bytes += job.result_bytes;
        newest.push_back(std::move(job));
      }
    }
  }

  /// By the loss of its last attempt, of which nobody else hears.
  [[nodiscard]] bool has_died_now(const StoredJob& job) const {
    return job.state == StoredState::dead && job.ended_at >= begun_;
  }

  std::shared_ptr<const JobResult> result_of(const StoredJob& job) {
    if (job.state != StoredState::done) return nullptr;
    return std::make_shared<const JobResult>(from_stored(
        job.result_description, said(journal_.read_result(job.id, {0, job.result_bytes}))));
  }

  JobService& service_;
  JobJournal& journal_;
  const ClientTable& clients_;
  const KindTable& kinds_;
  RestoredJobs restored_;
  SystemTime begun_;
};

}  // namespace

RestoredJobs restore_jobs(JobService& service, const ClientTable& clients, const KindTable& kinds) {
  return Restore(service, clients, kinds).run();
}

void restore_names(JobService& service, const ClientTable& clients, const KindTable& kinds) {
  Restore(service, clients, kinds).restore_names();
}

}  // namespace heistd
