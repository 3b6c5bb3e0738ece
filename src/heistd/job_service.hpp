// JobService: everything clients do with jobs, without HTTP.
#pragma once

#include <cstddef>
#include <functional>
#include <heist/scheduler.hpp>
#include <heistd/client.hpp>
#include <heistd/job.hpp>
#include <heistd/job_run.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace heistd {

/// What a client asks for, but for the bytes to work on.
struct JobRequest {
  JobKind kind = JobKind::digest;
  std::shared_ptr<const LinePattern> pattern;  ///< of a search
  std::optional<heist::TaskPriority> priority;
  std::chrono::milliseconds delay{};
  std::string signal_name;  ///< empty: none
  bool wait = false;
};

/// Posts jobs on the agents and keeps their records.
///
/// Thread: the network's, which `to_network` reaches from the agents.
class JobService {
 public:
  using Callback = std::function<void()>;

  /// `to_network` runs a callback on the network thread, whoever calls it.
  JobService(heist::Scheduler scheduler, std::function<void(Callback)> to_network);

  /// Posts a job.   Errors: 503 "queue_full", "too_many_signals" or "shutting_down".
  [[nodiscard]] Result<std::shared_ptr<Job>> submit(Client& client, const JobRequest& request,
                                                    Blocks body, Budget::Ticket ticket);

  /// Aborts a job; nothing of it starts any more. A finished one stays as it is.
  void abort(Client& client, const std::shared_ptr<Job>& job, std::string reason);

  /// Aborts the jobs of a signal name and frees the name; says how many jobs, or nothing for no such name.
  std::optional<std::size_t> abort_group(Client& client, std::string_view name);

  /// Sets the priority of a signal name's jobs, the waiting ones too; makes the name if need be.
  ///
  /// Errors: 503 "too_many_signals".
  [[nodiscard]] Result<std::shared_ptr<SignalGroup>> put_group(Client& client,
                                                               std::string_view name,
                                                               heist::TaskPriority priority);

  /// From now on every new job is refused.
  void start_shutdown() noexcept { shutting_down_ = true; }
  [[nodiscard]] bool shutting_down() const noexcept { return shutting_down_; }

  /// Aborts every unfinished job of the client.
  std::size_t abort_all(Client& client, const std::string& reason);

  /// Jobs that have finished since the start, whatever way but by an abort.
  [[nodiscard]] std::size_t finished_count() const noexcept { return finished_; }

 private:
  Result<std::shared_ptr<Job>> make_job(Client& client, const JobRequest& request,
                                        std::size_t bytes);
  std::shared_ptr<JobRun> make_run(Client& client, const Job& job, const JobRequest& request,
                                   std::unique_ptr<JobWork> work, Budget::Ticket ticket);
  void on_end(JobEnd end);
  void finish(Client& client, const std::shared_ptr<Job>& job, Job::End end);
  void finish_aborted(Client& client, const std::shared_ptr<Job>& job, std::string reason);

  heist::Scheduler scheduler_;
  JobRun::EndSink end_sink_;
  std::size_t finished_ = 0;
  bool shutting_down_ = false;
};

}  // namespace heistd
