// What JobService does when a journal keeps the jobs.
#include <boost/asio/bind_executor.hpp>
#include <heist/asio/async_wait.hpp>
#include <heistd/job_service.hpp>
#include <heistd/limits.hpp>
#include <new>
#include <utility>

namespace heistd {

namespace asio = boost::asio;

Result<std::shared_ptr<Job>> JobService::submit_kept(Client& client, const JobRequest& request,
                                                     const JobId& id, std::size_t bytes,
                                                     Budget::Ticket ticket) {
  auto begun = begin(client, request, id, bytes, {}, std::move(ticket));
  if (!begun) keeper_->abort(id);
  return begun;
}

void JobService::restore(Client& client, const JobRequest& request, const StoredJob& stored) {
  const auto bytes = static_cast<std::size_t>(stored.payload_bytes);
  auto ticket = client.budget->take_accepted(bytes + needed_bytes(request, bytes));
  const auto begun = begin(client, request, stored.id, bytes, {}, std::move(ticket));
  if (!begun) throw std::bad_alloc();  // the only reason at the start
}

void JobService::restore_finished(Client& client, const Kind& kind, const StoredJob& stored,
                                  std::shared_ptr<const JobResult> result) {
  auto job = std::make_shared<Job>(stored.id, kind, stored.payload_bytes);
  job->signal_name = stored.signal_name;
  job->fixed_priority = stored.priority.value_or(client.default_priority());
  job->progress = std::make_shared<JobProgress>(client.counts_of(*job->fixed_priority));
  Job::End end{JobState::done, {}, std::move(result)};
  if (stored.state == StoredState::aborted) {  // it may have failed attempts behind it
    end.state = JobState::aborted;
    end.abort_reason = "the job was aborted before the server was started again";
  } else if (stored.error) {
    end.state = JobState::failed;
    end.failure.emplace(stored.error->code, stored.error->message);
  }
  client.jobs.add(job);
  client.jobs.finish(*job, std::move(end));
}

/// The agent asks, and the journal answers, by way of the network.
StartGate JobService::gate_for(Client& client, const Job& job, const Parameters& parameters) {
  auto asked = heist::Promise<void>::with_resolver();
  auto work = heist::Promise<std::unique_ptr<JobWork>>::with_resolver();
  auto opener = std::make_shared<GateOpener>(std::move(work.resolver));
  heist::async_wait(asked.promise,
                    asio::bind_executor(network_, [this, &client, id = job.id, parameters,
                                                   opener](const std::exception_ptr& dropped) {
                      if (!dropped) open(client, id, parameters, opener);
                    }));
  return {std::move(asked.resolver), std::move(work.promise)};
}

void JobService::open(Client& client, const JobId& id, const Parameters& parameters,
                      std::shared_ptr<GateOpener> opener) {
  const auto asking = client.jobs.find(id);
  if (!asking || asking->finished()) return;
  keeper_->open(id, asking->bytes,
                [this, &client, id, parameters, opener](std::optional<OpenedJob> opened) {
                  const auto job = client.jobs.find(id);
                  if (!job || job->finished()) {
                    // It was aborted meanwhile, which the journal knows; or the server ends.
                    if (opened && shutting_down_) keeper_->release(id, opened->attempt);
                    opened.reset();
                  }
                  if (!opened) return;
                  job->attempt = opened->attempt;
                  try {
                    opener->work.resolve(
                        job->kind.make_work({job->kind, std::move(opened->payload), parameters,
                                             job->unfinished->controller.signal(), job->progress}));
                  } catch (const std::bad_alloc&) {
                    opener->work.reject(heist::Reason::of(std::current_exception()));
                  }
                });
}

/// Who waits for the job, or asks for it, hears of its end when the journal has it. If the journal
/// was told before that the job is deleted, that is its end.
void JobService::tell_end(Client& client, const Job& job, JobEnd end) {
  const auto kept = std::make_shared<JobEnd>(std::move(end));
  keeper_->end(job.id, job.attempt, kept->outcome,
               [this, &client, id = job.id, kept](JobJournal::Effect effect) {
                 const auto ended = client.jobs.find(id);
                 if (!ended || ended->finished()) return;
                 if (effect == JobJournal::Effect::stored) {
                   end_job(client, *ended, std::move(*kept));
                 } else {
                   finish_aborted(client, *ended, job_deleted);
                 }
               });
}

/// At the server's end the journal keeps the job for the next start.
void JobService::tell_abort(const Job& job) {
  if (keeper_ == nullptr) return;
  if (!shutting_down_) {
    keeper_->abort(job.id);
  } else if (job.attempt > 0) {
    keeper_->release(job.id, job.attempt);
  }
}

}  // namespace heistd
