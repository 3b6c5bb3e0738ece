#include <algorithm>
#include <heistd/job_service.hpp>
#include <heistd/limits.hpp>
#include <utility>
#include <vector>

namespace heistd {
namespace {

std::unique_ptr<JobWork> make_work(const JobRequest& request, Blocks body) {
  switch (request.kind) {
    case JobKind::digest:
      return make_digest_work(std::move(body));
    case JobKind::compress:
      return make_compress_work(std::move(body));
    case JobKind::search:
      break;
  }
  return make_search_work(std::move(body), request.pattern);
}

Refusal shutting_down_refusal() {
  return unavailable("shutting_down", "the server is shutting down");
}

Refusal too_many_signals() {
  return unavailable("too_many_signals",
                     "this client has " + std::to_string(max_signals) + " signal names already");
}

std::vector<std::shared_ptr<Job>> unfinished_of(const Client& client, const SignalGroup* group) {
  std::vector<std::shared_ptr<Job>> jobs;
  for (const auto& [id, job] : client.jobs.unfinished()) {
    if (group == nullptr || job->group.get() == group) jobs.push_back(job);
  }
  return jobs;
}

void count(LevelStats& level, const JobEnd& end) {
  level.queue_delay.add(end.times.queue_delay);
  level.longest_chunk = std::max(level.longest_chunk, end.times.longest);
  level.chunks += end.times.chunks;
  if (std::holds_alternative<JobResult>(end.outcome)) {
    ++level.done;
    level.run_time.add(end.times.run);
  }
  if (std::holds_alternative<JobFailure>(end.outcome)) ++level.failed;
}

}  // namespace

JobService::JobService(heist::Scheduler scheduler, std::function<void(Callback)> to_network)
    : scheduler_(std::move(scheduler)),
      end_sink_([this, to_network = std::move(to_network)](JobEnd end) {
        auto shared = std::make_shared<JobEnd>(std::move(end));
        to_network([this, shared] { on_end(std::move(*shared)); });
      }) {}

Result<std::shared_ptr<Job>> JobService::submit(Client& client, const JobRequest& request,
                                                Blocks body, Budget::Ticket ticket) {
  if (shutting_down_) return shutting_down_refusal();
  const auto bytes = byte_count(body);
  if (!ticket.grow(working_bytes(request.kind, bytes))) {
    return unavailable("queue_full", "this client's unfinished jobs take too much memory");
  }
  auto made = make_job(client, request, bytes);
  if (!made) return made;
  const auto& job = *made;
  const auto run =
      make_run(client, *job, request, make_work(request, std::move(body)), std::move(ticket));
  job->run = run;
  job->runnable_at = run->runnable_at();
  if (!run->post_first()) return shutting_down_refusal();
  if (job->group) ++job->group->unfinished_jobs;
  client.jobs.add(job);
  return made;
}

Result<std::shared_ptr<Job>> JobService::make_job(Client& client, const JobRequest& request,
                                                  std::size_t bytes) {
  auto job = std::make_shared<Job>(make_job_id(), request.kind, bytes);
  job->fixed_priority = request.priority;
  if (request.signal_name.empty()) {
    if (!job->fixed_priority) job->fixed_priority = client.default_priority();
    return job;
  }
  job->signal_name = request.signal_name;
  job->group = client.signals.find_or_make(request.signal_name, client.default_priority());
  if (!job->group) return too_many_signals();
  return job;
}

std::shared_ptr<JobRun> JobService::make_run(Client& client, const Job& job,
                                             const JobRequest& request,
                                             std::unique_ptr<JobWork> work, Budget::Ticket ticket) {
  std::optional<heist::TaskSignal> group;
  if (job.group) group = job.group->controller.signal();
  JobStart start{&client,
                 job.id,
                 std::move(work),
                 std::move(ticket),
                 job.controller.signal(),
                 std::move(group),
                 job.fixed_priority,
                 request.delay,
                 job.progress};
  // Requests ask for no more than that, either: this is where it holds whatever they ask for (SEC-1).
  return std::make_shared<JobRun>(std::move(start), scheduler_.with_ceiling(client.ceiling),
                                  end_sink_);
}

void JobService::abort(Client& client, const std::shared_ptr<Job>& job, std::string reason) {
  if (job->finished()) return;
  job->controller.abort();
  if (job->group) {
    // Its task stays queued with the group's; its memory need not. At the client's own ceiling, so
    // that aborting gives nobody more than posting does.
    scheduler_.post(
        [run = job->run] {
          if (const auto alive = run.lock()) alive->discard();
        },
        {.priority = client.ceiling});
  }
  finish_aborted(client, job, std::move(reason));
}

std::optional<std::size_t> JobService::abort_group(Client& client, std::string_view name) {
  const auto group = client.signals.find(name);
  if (!group) return std::nullopt;
  client.signals.erase(name);
  group->controller.abort();
  const auto jobs = unfinished_of(client, group.get());
  for (const auto& job : jobs) finish_aborted(client, job, "the signal was deleted");
  return jobs.size();
}

Result<std::shared_ptr<SignalGroup>> JobService::put_group(Client& client, std::string_view name,
                                                           heist::TaskPriority priority) {
  auto group = client.signals.find_or_make(name, priority);
  if (!group) return too_many_signals();
  group->was_put = true;
  group->controller.set_priority(priority);
  return group;
}

std::size_t JobService::abort_all(Client& client, const std::string& reason) {
  const auto jobs = unfinished_of(client, nullptr);
  for (const auto& job : jobs) abort(client, job, reason);
  return jobs.size();
}

void JobService::on_end(JobEnd end) {
  if (end.times.chunks > 0) count(end.client->stats_of(end.times.started_at), end);
  const auto job = end.client->jobs.find(end.id);
  if (!job || job->finished()) return;  // aborted before its agent's word came
  if (auto* result = std::get_if<JobResult>(&end.outcome)) {
    finish(
        *end.client, job,
        {JobState::done, end.times, std::make_shared<const JobResult>(std::move(*result)), {}, {}});
  } else if (auto* failure = std::get_if<JobFailure>(&end.outcome)) {
    finish(*end.client, job, {JobState::failed, end.times, nullptr, std::move(*failure), {}});
  } else {
    finish_aborted(*end.client, job, "the server is shutting down");
  }
}

void JobService::finish_aborted(Client& client, const std::shared_ptr<Job>& job,
                                std::string reason) {
  ++client.stats_of(job->priority()).aborted;
  JobTimes times;
  times.queue_delay = job->progress->queue_delay().value_or(std::chrono::nanoseconds{});
  finish(client, job, {JobState::aborted, times, nullptr, {}, std::move(reason)});
}

void JobService::finish(Client& client, const std::shared_ptr<Job>& job, Job::End end) {
  if (end.state != JobState::aborted) ++finished_;
  if (job->group) client.signals.job_finished(job->signal_name, *job->group);
  client.jobs.finish(job, std::move(end));
}

}  // namespace heistd
