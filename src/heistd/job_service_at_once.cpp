// How a job of a journal starts that was accepted a moment ago and has nobody to wait for.
#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <heist/asio/async_wait.hpp>
#include <heistd/job_service.hpp>
#include <utility>

namespace heistd {

namespace asio = boost::asio;

/// Whether some of the priority have to ask for their start. Programs of which only some run at a
/// time hold up no others.   Cost: a step for each line.
bool JobService::is_behind_others(const Client& client, heist::TaskPriority priority) {
  const auto now = Clock::now();
  return std::ranges::any_of(client.waiting.lines(), [priority, now](const auto& entry) {
    auto& line = *entry.second;
    return line.priority() == priority && line.kind.at_a_time == 0 && !line.is_paused() &&
           line.ahead.any_asking(now);
  });
}

/// The line in which the job is if `fixed` is its own priority.   Errors: std::bad_alloc.
std::shared_ptr<JobLine> JobService::line_of(Client& client, const Job& job,
                                             std::optional<heist::TaskPriority> fixed) {
  return client.waiting.line_of(job.signal_name, job.group, fixed,
                                fixed ? client.counts_of(*fixed) : job.group->counts, job.kind,
                                job.kind_pause);
}

/// Suspects start one by one, and hold up no others.   Errors: std::bad_alloc.
void JobService::enter_asking(Client& client, Job& job) {
  auto& mine = *job.unfinished;
  mine.asking.reset();
  if (StartQueue::is_suspect(job)) return;
  mine.asking.emplace(JobLine::ahead_of(line_of(client, job, job.fixed_priority)), job.runnable_at);
}

/// Null when the job has to ask for its start: others of its client and priority do, or it is to
/// wait for a limit, or the journal has to be asked for its upload.
///
/// Errors: std::bad_alloc.
std::shared_ptr<JobService::AtOnce> JobService::take_at_once(const Client& client,
                                                             const JobRequest& request,
                                                             const JobId& id,
                                                             const std::shared_ptr<JobLine>& line) {
  const bool has_limit = client.limits().running > 0 || request.kind->at_a_time > 0;
  if (has_limit || is_behind_others(client, line->priority())) return nullptr;
  auto at_once = std::make_shared<AtOnce>();
  at_once->place = starts_.take_at_once(std::min(line->priority(), client.ceiling));
  if (!at_once->place) return nullptr;
  auto first = keeper_->journal().take_first_start(id);
  if (!first) return nullptr;
  at_once->attempt = std::move(first->attempt);
  if (!first->upload.empty()) at_once->upload.push_back(std::move(first->upload));
  at_once->posted.emplace(line, JobLine::Share::Of::at_once);
  return at_once;
}

/// Errors: std::bad_alloc; whatever the kind throws.
void JobService::start_at_once(Client& client, Job& job, std::shared_ptr<AtOnce> at_once,
                               const Parameters& parameters, JobStart& start) {
  auto& mine = *job.unfinished;
  start.work = job.kind.make_work({job.kind, std::move(at_once->upload), parameters, start.signal,
                                   job.progress, job.id, first_attempt});
  client.run_places.take(job);
  mine.place_at_once = client.at_once.insert(client.at_once.end(), &job);
  mine.first = std::make_shared<FirstStart>(std::move(at_once->attempt));
  start.first = mine.first;
  auto leave = heist::Promise<void>::with_resolver();
  heist::async_wait(leave.promise,
                    asio::bind_executor(network_, [this, &client, at_once = std::move(at_once)](
                                                      const std::exception_ptr& /*none*/) {
                      at_once->place.reset();
                      at_once->posted.reset();
                      post_waiting(client);
                    }));
  start.place = JobLeave{std::move(leave.resolver)};
}

void JobService::leave_at_once(Client& client, Job& job) noexcept {
  const auto place = std::exchange(job.unfinished->place_at_once, std::nullopt);
  if (place) client.at_once.erase(*place);
}

/// To be called before it matters whether an attempt has begun. From now on none begins at once.
void JobService::hear_of_first_start(Client& client, Job& job) noexcept {
  auto& mine = *job.unfinished;
  leave_at_once(client, job);
  const auto first = std::exchange(mine.first, nullptr);
  if (!first || first->give_up()) return;
  mine.begun = true;
  job.attempts.latest = first_attempt;
}

}  // namespace heistd
