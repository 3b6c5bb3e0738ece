#include <algorithm>
#include <heistd/claimer.hpp>
#include <heistd/job_request.hpp>
#include <iostream>
#include <new>
#include <utility>

namespace heistd {
namespace {

/// So that claims, what comes with every few of them, and renewals of the lease are no more than
/// one statement a second.
constexpr std::chrono::milliseconds heartbeat{1900};
constexpr std::size_t beats_between_sweeps = 5;

}  // namespace

Claimer::Claimer(PostgresJournal& journal, JobService& service, const ClientTable& clients,
                 const KindTable& kinds, std::size_t agents)
    : journal_(journal),
      service_(service),
      keeper_(*service.keeper()),
      clients_(clients),
      kinds_(kinds),
      wish_{agents, {}, {}},
      timer_(keeper_.network()) {
  for (const auto& [name, kind] : kinds.all()) {
    wish_.kinds.push_back(name);
    if (kind.at_a_time == 0) continue;
    wish_.programs.push_back(name);
    wish_.most_programs = kind.at_a_time;
  }
}

/// Clients and their limits may be others by now.   Errors: std::bad_alloc.
void Claimer::renew_wish() {
  std::vector<std::string> clients;
  std::vector<ClaimWish::Limit> limits;
  for (const auto& client : clients_.all()) {
    clients.push_back(client->name);
    if (client->limits().running > 0) limits.push_back({client->name, client->limits().running});
  }
  wish_.clients = std::move(clients);
  wish_.limits = std::move(limits);
  refusals_.forget_old(Refusals::Clock::now());
}

void Claimer::stop() {
  has_ended_ = true;
  timer_.cancel();
  journal_.stop_claims();
}

/// What there is no memory for now is done at the next heartbeat.
template <class Step>
void Claimer::try_to(Step step) noexcept {
  try {
    step();
  } catch (const std::bad_alloc&) {
    return;
  }
}

void Claimer::claim() noexcept {
  claims_again_ = true;
  if (is_claiming_ || has_ended_) return;
  try_to([this] { ask_for_jobs(); });
}

void Claimer::ask_for_jobs() {
  claims_again_ = false;
  wish_.passed = refusals_.passed();
  keeper_.when(journal_.claim(wish_), [this](const auto& claimed) {
    is_claiming_ = false;
    on_claimed(claimed);
    if (claims_again_) claim();
  });
  is_claiming_ = true;
}

void Claimer::on_claimed(const JournalResult<std::vector<ClaimedJob>>& claimed) {
  note_connection(claimed);
  if (!claimed) return;
  Client* latest = nullptr;
  bool has_signals = false;
  bool is_paused = false;
  for (const auto& one : *claimed) {
    const auto& job = one.job;
    auto* const client = take(one);
    if (client == nullptr) continue;
    latest = client;
    has_signals |= !job.signal_name.empty();
    is_paused |= !service_.keeps_claim(*client, job.id);
  }
  if (latest != nullptr) service_.post_waiting(*latest);
  if (has_signals) look();  // for the priority that others may have given them
  if (is_paused) sweep();   // as others may have ended the pause
}

/// Whose job it is; null: it goes back to the queue.
Client* Claimer::take(const ClaimedJob& claimed) {
  const auto& job = claimed.job;
  auto* const client = clients_.find(job.client);
  const auto* const kind = kinds_.find(job.kind);
  try {
    if (client != nullptr && kind != nullptr && takes(*kind, job.parameters)) {
      service_.take_claimed(*client, *kind, job);
      return client;
    }
    say_stranger(job);
  } catch (const std::bad_alloc&) {
    // Others may have more memory.
  }
  refuse(claimed);
  return nullptr;
}

/// It goes back, and is left to others for a while.
void Claimer::refuse(const ClaimedJob& claimed) {
  const bool is_passed = refusals_.add(claimed.lane, claimed.turn, Refusals::Clock::now());
  keeper_.release(claimed.job.id, claimed.job.attempt, [this, is_passed] {
    if (is_passed) claim();
  });
}

/// Once for each client, as it will come again and again.
void Claimer::say_stranger(const StoredJob& job) {
  if (!strangers_.insert(job.client).second) return;
  std::cerr << "heistd: job " << job.id << " goes back to the queue: this server has no client "
            << job.client << ", or its " << job.kind << " jobs have other parameters; all servers "
            << "of a queue are to have the same clients and kinds" << std::endl;
}

void Claimer::lose(const std::vector<JobId>& ids) noexcept {
  std::cerr << "heistd: the lease of this server was not renewed in time: its " << ids.size()
            << " jobs are aborted here, and other servers go on with them" << std::endl;
  for (const auto& id : ids) {
    try_to([this, &id] {
      if (auto* const client = JobService::client_of(clients_, id)) {
        service_.leave_to_others(*client, id);
      }
    });
  }
}

/// Once when it is lost, and once when it is there again.
void Claimer::note_connection(const JournalResult<std::vector<ClaimedJob>>& claimed) {
  if (std::exchange(is_connected_, claimed.has_value()) == claimed.has_value()) return;
  if (claimed) {
    std::cerr << "heistd: jobs can be claimed again" << std::endl;
  } else {
    std::cerr << "heistd: jobs cannot be claimed: " << describe(claimed.error()) << std::endl;
  }
}

// NOLINTNEXTLINE(bugprone-exception-escape): a timer that is set anew has no error to throw.
void Claimer::beat() noexcept {
  if (has_ended_) return;
  try_to([this] { renew_wish(); });
  claim();
  try_to([this] { look(); });
  try_to([this] { ask_about_watched(); });
  if (++beats_ % beats_between_sweeps == 0) try_to([this] { sweep(); });
  await_beat();
}

void Claimer::sweep() {
  keeper_.when(journal_.expire_some(),
               [this](const JournalResult<std::vector<StoredPause>>& pauses) {
                 if (pauses) service_.note_pauses(clients_, *pauses);
               });
}

void Claimer::await_beat() {
  timer_.expires_after(heartbeat);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) beat();
  });
}

void Claimer::look() {
  if (is_looking_) return;
  keeper_.when(journal_.look(), [this](const JournalResult<PostgresJournal::Look>& seen) {
    is_looking_ = false;
    if (seen) on_look(*seen);
  });
  is_looking_ = true;
}

/// What is not to stay here goes back, and so does what nobody here knows.
void Claimer::on_look(const PostgresJournal::Look& seen) {
  for (const auto& [id, attempt] : seen.lost) {
    if (auto* const client = JobService::client_of(clients_, id)) {
      service_.lose_attempt(*client, id, attempt);
    }
  }
  for (const auto& [id, attempt, priority] : seen.held) {
    auto* const client = JobService::client_of(clients_, id);
    if (client != nullptr && service_.keeps_claim(*client, id)) {
      service_.note_priority(*client, id, priority);
      continue;
    }
    if (client != nullptr) service_.leave_to_others(*client, id);
    keeper_.release(id, attempt, [this] { claim(); });
  }
}

void Claimer::ask_about_watched() {
  auto ids = service_.watched();
  if (ids.empty() || is_asking_about_watched_) return;
  keeper_.when(journal_.ended_of(std::move(ids)),
               [this](const JournalResult<std::vector<JobId>>& ended) {
                 is_asking_about_watched_ = false;
                 if (!ended) return;
                 for (const auto& id : *ended) {
                   if (auto* const client = JobService::client_of(clients_, id)) {
                     service_.hear_of(*client, id);
                   }
                 }
               });
  is_asking_about_watched_ = true;
}

}  // namespace heistd
