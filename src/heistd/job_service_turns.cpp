// How jobs wait for their turn when no journal keeps them.
#include <algorithm>
#include <heistd/job_service.hpp>
#include <new>
#include <utility>

namespace heistd {

/// What it takes to post a job whose turn is still to come. Its upload is in the Job.
struct HeldJob {
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
    if (request.delay.count() > 0 || turns_.must_wait(client, **line)) {
      return hold(client, request, *line, std::move(body), std::move(ticket));
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
std::shared_ptr<Job> JobService::hold(Client& client, const JobRequest& request,
                                      const std::shared_ptr<JobLine>& line, Blocks body,
                                      Budget::Ticket ticket) {
  auto made = make_job(client, request, make_job_id(), byte_count(body));
  if (!made) throw std::bad_alloc();  // the only reason, as its signal is there
  auto& job = **made;
  job.order = client.jobs.next_order();
  try {
    enter(client, *made, request.delay.count() > 0);
    job.unfinished->held = std::make_shared<HeldJob>(HeldJob{request, ticket.split(0)});
    client.waiting.add(job.id, line, *request.kind, job.runnable_at);
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
void JobService::post_held(Client& client, const JobId& id) {
  const auto job = client.jobs.find(id);
  if (!job || !job->unfinished->held) return;
  if (job->group && job->group->deleted()) return;  // a batch of the group's takes it
  const auto held = std::move(job->unfinished->held);
  try {
    post_held(client, *job, *held);
  } catch (const std::bad_alloc&) {
    end_job(client, *job, JobEnd({}, OutOfMemory()));
  } catch (const std::exception&) {
    end_job(client, *job, JobEnd());
  }
}

/// Errors: std::bad_alloc; others when the agents take no more jobs.
void JobService::post_held(Client& client, Job& job, HeldJob& held) {
  auto ticket = client.budget->take_accepted(0);
  ticket.join(std::move(held.memory));
  held.request.delay = {};
  const auto line = client.waiting.find(job.id)->line->shared_from_this();
  post(client, job, held.request, std::move(job.unfinished->upload), std::move(ticket));
  job.unfinished->posted.emplace(line);
  client.waiting.remove(job.id);
}

}  // namespace heistd
