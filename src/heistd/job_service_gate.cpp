// The gate at which a job waits until its turn has come, and the journal has counted its start.
#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <heist/asio/async_wait.hpp>
#include <heistd/job_service.hpp>
#include <new>
#include <utility>

namespace heistd {

namespace asio = boost::asio;

/// What it takes to let a job pass its gate.
struct JobService::Opening {
  Opening(const Job& job, Parameters its_parameters, heist::Resolver<std::unique_ptr<JobWork>> work)
      : id(job.id),
        run(job.unfinished->run),
        parameters(std::move(its_parameters)),
        opener(std::move(work)) {}

  const JobId id;
  const std::uint64_t run;
  Parameters parameters;
  GateOpener opener;
  /// Given back when the agent says so, and at the latest when nobody has this any more.
  const std::shared_ptr<StartQueue::Place> place = std::make_shared<StartQueue::Place>();
};

/// The agent asks, and the journal answers when the job's turn has come, by way of the network.
void JobService::put_gate(Client& client, Job& job, const Parameters& parameters, JobStart& start) {
  enter_asking(client, job);
  auto asked = heist::Promise<void>::with_resolver();
  auto work = heist::Promise<std::unique_ptr<JobWork>>::with_resolver();
  auto leave = heist::Promise<void>::with_resolver();
  const auto opening = std::make_shared<Opening>(job, parameters, std::move(work.resolver));
  heist::async_wait(
      leave.promise,
      asio::bind_executor(network_, [place = opening->place](const std::exception_ptr& /*none*/) {
        place->reset();
      }));
  heist::async_wait(
      asked.promise,
      asio::bind_executor(network_, [this, &client, opening](const std::exception_ptr& dropped) {
        if (!dropped) ask_to_run(client, opening);
      }));
  start.gate = {std::move(asked.resolver), std::move(work.promise)};
  start.place = {std::move(leave.resolver), job.kind.at_a_time > 0};
}

/// Null when the job has ended, or the run that asked is over as it had no memory.
std::shared_ptr<Job> JobService::waiting_for(Client& client, const Opening& opening) {
  auto job = client.jobs.find(opening.id);
  const bool waits = job && !job->finished() && job->unfinished->run == opening.run;
  return waits ? std::move(job) : nullptr;
}

/// The job has come to its start. Others that a pause has held back may have been before it, and
/// are behind it now (JRN-5). Suspects wait for no others, and neither does anything as the server
/// ends, as what is held is left to the next one; and who claims jobs of a shared queue gives back
/// those that are held.
bool JobService::must_be_held_too(const Client& client, const Job& job) const noexcept {
  const auto& mine = *job.unfinished;
  if (!mine.asking || keeper_ == nullptr || is_shared() || shutting_down()) return false;
  return Turns::is_ahead_of_held(client, job, mine.posted_at);
}

/// The job takes a place among those of its client that run, and then one among those that start.
/// If it has to wait for the first one, others of its priority need not.
void JobService::ask_to_run(Client& client, const std::shared_ptr<Opening>& opening) {
  const auto job = waiting_for(client, *opening);
  if (!job) return;
  if (job->unfinished->asking) job->unfinished->asking->note_asked();
  const auto start = [this, &client, opening] {
    const auto asking = waiting_for(client, *opening);
    if (!asking) return;
    starts_.ask(asking, [this, &client, opening](StartQueue::Places places) {
      open(client, opening, std::move(places));
    });
  };
  if (client.run_places.ask(job, start)) return;
  job->unfinished->posted.reset();
  post_waiting(client);
}

void JobService::open(Client& client, const std::shared_ptr<Opening>& opening,
                      StartQueue::Places places) {
  const auto asking = waiting_for(client, *opening);
  if (!asking) return;
  if (asking->is_paused() || must_be_held_too(client, *asking)) {
    // Its run ends as the opening goes, and then it is held. Without a journal nobody else knows
    // what it takes to run it.
    if (keeper_ == nullptr) return hold_at_gate(client, *asking, opening);
    return hold_at_start(*asking);
  }
  asking->unfinished->held.reset();
  if (keeper_ == nullptr) {
    begin_attempt(*asking, {first_attempt, std::move(asking->unfinished->upload)}, *opening,
                  std::move(places));
    return post_waiting(client);
  }
  const auto priority = std::min(asking->priority(), asking->ceiling);
  keeper_->open(
      {opening->id, priority, asking->bytes},
      [this, &client, opening, places = std::move(places),
       being_started = starts_.being_started(priority)](std::optional<OpenedJob> opened) mutable {
        if (!opened) return;
        if (const auto job = waiting_for(client, *opening)) {
          begin_attempt(*job, std::move(*opened), *opening, std::move(places));
          post_waiting(client);
        } else {  // when it was aborted, the journal knows that, and this comes late
          keeper_->release(opening->id, opened->attempt);
        }
      });
}

/// The run stays where it is, and asks once more when the pause is over.
void JobService::hold_at_gate(Client& client, Job& job, const std::shared_ptr<Opening>& opening) {
  job.unfinished->held_start = [this, &client, opening] { ask_to_run(client, opening); };
  put_in_held(client, job);
}

void JobService::begin_attempt(Job& job, OpenedJob opened, Opening& opening,
                               StartQueue::Places places) {
  job.unfinished->asking.reset();
  if (keeper_ != nullptr) {  // which counts attempts
    job.attempts.latest = opened.attempt;
    job.unfinished->begun = true;
  }
  job.unfinished->posted.reset();
  job.unfinished->suspect_place = std::move(places.of_suspect);
  *opening.place = std::move(places.to_run);
  auto& work = opening.opener.work;
  try {
    work.resolve(job.kind.make_work({job.kind, std::move(opened.payload), opening.parameters,
                                     job.unfinished->controller.signal(), job.progress, job.id,
                                     opened.attempt}));
  } catch (const std::bad_alloc&) {
    work.reject(heist::Reason::of(std::current_exception()));
  }
}

}  // namespace heistd
