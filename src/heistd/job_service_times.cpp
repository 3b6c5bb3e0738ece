// How long jobs may wait for their start, and how long they may run.
#include <boost/asio/bind_executor.hpp>
#include <heist/asio/async_wait.hpp>
#include <heist/error.hpp>
#include <heistd/job_service.hpp>
#include <heistd/job_summary.hpp>
#include <new>
#include <string>
#include <utility>

namespace heistd {
namespace {

namespace asio = boost::asio;

/// How long it takes to try again what there was no memory for.
constexpr std::chrono::seconds pause_without_memory{1};

constexpr std::string_view expired_code = "expired";
constexpr std::string_view expired = "the job did not start within its ttl";

JobFailure timed_out(std::chrono::milliseconds timeout) {
  return {"job_timeout",
          "the job ran for longer than its timeout of " + std::to_string(timeout.count()) + " ms"};
}

}  // namespace

/// The job, if that run of it is not over as far as the network knows; else null.
std::shared_ptr<Job> JobService::find_run(Client& client, const JobId& id,
                                          std::uint64_t run) const {
  auto job = client.jobs.find(id);
  const bool is_so = job && !job->finished() && job->unfinished->run == run;
  return is_so ? std::move(job) : nullptr;
}

/// Calls `then` at that time, instead of what was set before, unless the run is over by then.
///
/// Errors: std::bad_alloc.
void JobService::set_timer(Client& client, Job& job, Clock::time_point time,
                           void (JobService::*then)(Client&, Job&)) {
  auto& mine = *job.unfinished;
  mine.timer = std::make_unique<asio::steady_timer>(network_, time);
  wait_for_timer(client, job, then);
}

void JobService::wait_for_timer(Client& client, Job& job, void (JobService::*then)(Client&, Job&)) {
  auto& mine = *job.unfinished;
  mine.timer->async_wait(
      [this, &client, id = job.id, run = mine.run, then](const boost::system::error_code& error) {
        const auto waits = error ? nullptr : find_run(client, id, run);
        if (waits) (this->*then)(client, *waits);
      });
}

/// If the process ends before the journal has that, the job expires in the next one.
void JobService::expire(Client& client, Job& job) {
  hear_of_first_start(client, job);
  if (job.has_started()) return;
  give_up(client, job, expired, JobFailure(std::string(expired_code), std::string(expired)));
}

/// Its timer calls this, and does so once more when there was no memory for it.
void JobService::expire_posted(Client& client, Job& job) {
  try {
    expire(client, job);
  } catch (const std::bad_alloc&) {
    if (job.finished()) throw;
    job.unfinished->timer->expires_after(pause_without_memory);
    wait_for_timer(client, job, &JobService::expire_posted);
  }
}

/// The same of a job that waits for its turn. Its upload counts until the journal has its end.
void JobService::expire_waiting(Client& client, const JobId& id) {
  if (const auto job = client.jobs.find(id)) return expire(client, *job);
  auto upload = std::make_shared<Budget::Ticket>(
      client.budget->take_stored(client.waiting.find(id)->stored_bytes));
  auto tell = [this, &client, upload = std::move(upload),
               then = end_followers_later(client, id)](const auto& stored) {
    if (stored) tell_end_of_waiting(client, summary_of(*stored, client));
    then(stored);
  };
  keeper_->abort(id, {std::string(expired_code), std::string(expired)}, std::move(tell));
  abort_waiting(client, id);
}

/// A batch of the jobs that wait for their time gets turns, and another batch expires. The timer of
/// the next time, which may be over, brings the rest.
void JobService::wake_some(Client& client) {
  const auto now = Clock::now();
  client.waiting.wake_some(now);
  for (auto left = jobs_at_a_time; left > 0; --left) {
    const auto late = client.waiting.expired(now);
    if (!late) return;
    expire_waiting(client, *late);
  }
}

/// For the agent that starts the job: from then on its time is limited.   Errors: std::bad_alloc.
heist::Resolver<void> JobService::start_notice(Client& client, const Job& job) {
  auto started = heist::Promise<void>::with_resolver();
  heist::async_wait(
      started.promise,
      asio::bind_executor(network_, [this, &client, id = job.id,
                                     run = job.unfinished->run](const std::exception_ptr& dropped) {
        const auto runs = dropped ? nullptr : find_run(client, id, run);
        if (runs) set_timer(client, *runs, Clock::now() + *runs->timeout, &JobService::time_out);
      }));
  return std::move(started.resolver);
}

/// The job ends now, whatever its work does with the abort of its signal, and has no other attempt:
/// that would take as long once more.
void JobService::time_out(Client& client, Job& job) {
  auto& mine = *job.unfinished;
  if (std::exchange(mine.is_told, true)) return;
  hear_of_first_start(client, job);
  mine.controller.abort(heist::Reason::of(std::make_exception_ptr(heist::TimeoutError())));
  JobEnd end;
  end.times.queue_delay = job.progress->queue_delay().value_or(std::chrono::nanoseconds{});
  end.outcome = timed_out(*job.timeout);
  if (keeper_ != nullptr) {
    tell_end(client, job, std::move(end));
  } else {
    end_job(client, job, std::move(end));
  }
}

}  // namespace heistd
