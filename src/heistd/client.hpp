// Client: whom a request comes from, and everything that is that client's alone.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <heist/priority.hpp>
#include <heistd/budget.hpp>
#include <heistd/client_spec.hpp>
#include <heistd/events/client_events.hpp>
#include <heistd/job_counts.hpp>
#include <heistd/job_store.hpp>
#include <heistd/level_stats.hpp>
#include <heistd/limits.hpp>
#include <heistd/outgoing.hpp>
#include <heistd/pause.hpp>
#include <heistd/quota.hpp>
#include <heistd/refusal.hpp>
#include <heistd/run_places.hpp>
#include <heistd/signal_group.hpp>
#include <heistd/start_delays.hpp>
#include <heistd/token_bucket.hpp>
#include <heistd/verdicts.hpp>
#include <heistd/waiting_jobs.hpp>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heistd {

/// Everything that is one client's alone: no request can reach the jobs, signals or figures of
/// another.
///
/// Thread: the network's.
class Client {
 public:
  Client(std::string its_name, heist::TaskPriority its_ceiling, const Limits& limits,
         bool is_anonymous = false);

  const std::string name;
  heist::TaskPriority ceiling;  ///< of what it asks for from now on
  const bool anonymous;         ///< it is everybody who shows no token
  bool is_operator = false;     ///< it may see what all clients do
  const std::shared_ptr<Budget> budget;
  JobStore jobs;
  WaitingJobs waiting;
  RunPlaces run_places;
  SignalGroups signals;
  KindPauses kind_pauses;
  /// Jobs that start at once, until the network knows whether they have started.
  std::list<Job*> at_once;
  JobsByTurn held;           ///< posted ones that may not start now
  bool starts_held = false;  ///< some of these are to start as soon as that can be
  Verdicts verdicts;
  std::array<LevelStats, 3> stats;
  /// Agents count the starts here, by the priority that each job has when it starts.
  const std::shared_ptr<std::array<StartDelays, 3>> start_delays =
      std::make_shared<std::array<StartDelays, 3>>();
  std::uint64_t rate_limited = 0;  ///< requests that were refused as its rate was used up
  Quota waits;                     ///< requests that wait for their jobs
  Quota unsent_bytes;              ///< that uploads under way have announced
  Outgoing outgoing;
  ClientEvents events{*this};
  std::ptrdiff_t requests_under_way = 0;

  [[nodiscard]] LevelStats& stats_of(heist::TaskPriority priority) noexcept {
    return stats.at(static_cast<std::size_t>(priority));
  }
  /// Of the jobs with a priority of their own.
  [[nodiscard]] std::shared_ptr<JobCounts> counts_of(heist::TaskPriority priority) const noexcept {
    return {counts_, &counts_->at(static_cast<std::size_t>(priority))};
  }
  /// The unfinished jobs of each priority.   Cost: a step for each signal name.
  [[nodiscard]] std::array<Depth, 3> depths() const;
  /// For each priority how long a job of it waits now at the most that could start; zero if none
  /// does. Nothing keeps it from starting but other jobs, or the bound of those that run. Jobs that
  /// are in no line are looked at in the order of their acceptance, as far as `most_looked_at`.
  ///
  /// Cost: a step for each line, and for each of these jobs.
  [[nodiscard]] std::array<std::chrono::nanoseconds, 3> longest_waits() const noexcept;

  [[nodiscard]] const ClientLimits& limits() const noexcept { return limits_; }
  void set_limits(const ClientLimits& limits) noexcept;
  /// For each priority whether one more job of it may be posted, as no more run at a time than may,
  /// and no more of its own or a higher priority are about to.   Cost: a step for each line.
  [[nodiscard]] std::array<bool, 3> levels_to_start() const noexcept;
  [[nodiscard]] bool may_start(heist::TaskPriority priority) const noexcept;
  /// To be asked for each request that posts jobs; pays for one of them.
  ///
  /// Errors: 429 "rate_limited".
  [[nodiscard]] std::optional<Refusal> take_request(TokenBucket::TimePoint now);
  /// The request has posted one more: later requests wait for what that takes of the rate.
  void owe_job(TokenBucket::TimePoint now) noexcept { rate_.owe(now); }

  /// A place among the requests that wait for their jobs.   Errors: 503 "too_many_waits".
  [[nodiscard]] Result<Quota::Share> take_wait();

  /// What jobs and signals get that name no priority.
  [[nodiscard]] heist::TaskPriority default_priority() const noexcept;

 private:
  ClientLimits limits_;
  TokenBucket rate_;  ///< of jobs that it posts
  /// Together, as a job may go from one to another.
  const std::shared_ptr<std::array<JobCounts, 3>> counts_ =
      std::make_shared<std::array<JobCounts, 3>>();
};

/// All clients, and how requests show which one they come from.
class ClientTable {
 public:
  /// Without a ceiling for anonymous clients, every request needs a token.
  ClientTable(const std::vector<ClientSpec>& specs,
              std::optional<heist::TaskPriority> anonymous_ceiling, const Limits& limits);

  /// From now on these are the clients, with these tokens, ceilings and limits. Those that are gone
  /// have no token any more; what they have asked for goes on, and is there when they come again.
  ///
  /// Errors: std::bad_alloc; then all tokens and ceilings are as they were.
  void renew(const std::vector<ClientSpec>& specs);

  /// Null when there is none of that name.
  [[nodiscard]] Client* find(std::string_view name) const noexcept;

  /// Has the client of that name see what all do; false when there is none.
  bool set_operator(std::string_view name) noexcept;

  /// The client of an Authorization header's value (none: the anonymous client).
  ///
  /// Errors: 401 "unauthorized".
  [[nodiscard]] Result<Client*> authenticate(std::optional<std::string_view> authorization) const;

  [[nodiscard]] const std::vector<std::unique_ptr<Client>>& all() const noexcept {
    return clients_;
  }
  /// Whether somebody may listen to the events of one of them, so that it is worth a look at each.
  bool has_listeners = false;
  /// Drops the older half of what memory has of each client's finished jobs.
  void drop_older_half() noexcept;
  /// Of all of them together.
  [[nodiscard]] std::size_t unfinished_jobs() const noexcept;
  /// Those of them that wait without a Job.
  [[nodiscard]] std::size_t waiting_jobs() const noexcept;

 private:
  const Limits limits_;
  std::vector<std::unique_ptr<Client>> clients_;
  Client* anonymous_ = nullptr;
  /// By the token's SHA-256, so that the time a look-up takes says nothing about tokens.
  std::unordered_map<std::string, Client*> by_token_;
};

}  // namespace heistd
