// How jobs wait for their turn when no journal keeps them.
#include <algorithm>
#include <heistd/job_service.hpp>
#include <new>
#include <utility>

namespace heistd {

/// What it takes to post a job whose turn is still to come. Its upload is in the Job.
struct LinedUpJob {
  JobRequest request;
  Budget::Ticket memory;  ///< its bytes; that it is a job, WaitingJobs counts
};

void JobService::apply_limits(const ClientTable& clients) noexcept {
  by_turns_ = std::ranges::any_of(clients.all(), [](const auto& client) {
    return client->limits().running > 0 || client->limits().weight != 1;
  });
  for (const auto& client : clients.all()) post_waiting(*client);
}

Result<std::shared_ptr<Job>> JobService::submit_by_turns(Client& client, const JobRequest& request,
                                                         Blocks body, Budget::Ticket ticket) {
  try {
    const auto line = line_of(client, request.signal_name, request.priority, *request.kind);
    if (!line) return line.error();
    if (request.follows || request.delay.count() > 0 || turns_.must_wait(client, **line)) {
      return line_up(client, request, *line, std::move(body), std::move(ticket));
    }
    turns_.note_posted(client, **line);
    const auto bytes = byte_count(body);
    auto begun = begin(client, request, make_job_id(), bytes, std::move(body), std::move(ticket));
    if (begun) (*begun)->unfinished->posted.emplace(*line);
    return begun;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

/// The record counts as a job, so the ticket is given back.
///
/// Errors: std::bad_alloc; then it is as if there had never been a Job.
std::shared_ptr<Job> JobService::line_up(Client& client, const JobRequest& request,
                                         const std::shared_ptr<JobLine>& line, Blocks body,
                                         Budget::Ticket ticket) {
  auto made = make_job(client, request, make_job_id(), byte_count(body));
  if (!made) throw std::bad_alloc();  // the only reason, as its signal is there
  auto& job = **made;
  job.order = client.jobs.next_order();
  const WaitingJobs::Times times{job.runnable_at,
                                 job.expires_at.value_or(WaitingJobs::TimePoint::max())};
  if (request.follows) job.runnable_at = Clock::time_point::max();
  try {
    enter(client, *made, job.runnable_at > Clock::now());
    job.unfinished->lined_up = std::make_shared<LinedUpJob>(LinedUpJob{request, ticket.split(0)});
    client.waiting.add(job.id, line, times, request.follows ? request.after : JobId());
  } catch (const std::bad_alloc&) {
    take_back(client, job);
    throw;
  }
  job.unfinished->upload = std::move(body);
  client.waiting.note_job(*client.waiting.find(job.id));
  client.events.job_changed(job);
  post_waiting(client);
  return std::move(*made);
}

/// Without memory the job fails; when the agents are closed, it is aborted.
void JobService::post_lined_up(Client& client, const JobId& id) {
  const auto job = client.jobs.find(id);
  if (!job || !job->unfinished->lined_up) return;
  if (job->group && job->group->deleted()) return;  // a batch of the group's takes it
  const auto lined_up = std::move(job->unfinished->lined_up);
  try {
    post_lined_up(client, *job, *lined_up);
  } catch (const std::bad_alloc&) {
    end_job(client, *job, JobEnd({}, OutOfMemory()));
  } catch (const std::exception&) {
    end_job(client, *job, JobEnd());
  }
}

/// Errors: std::bad_alloc; others when the agents take no more jobs.
void JobService::post_lined_up(Client& client, Job& job, LinedUpJob& lined_up) {
  auto ticket = client.budget->take_accepted(0);
  ticket.join(std::move(lined_up.memory));
  lined_up.request.delay = {};
  const auto line = client.waiting.find(job.id)->line->shared_from_this();
  job.unfinished->posted.emplace(line);
  post(client, job, lined_up.request, std::move(job.unfinished->upload), std::move(ticket));
  client.waiting.remove(job.id);
}

}  // namespace heistd
