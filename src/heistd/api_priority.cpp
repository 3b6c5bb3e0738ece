// The priority of one job.
#include <heistd/api_storing.hpp>
#include <heistd/job_request.hpp>
#include <utility>

namespace heistd {
namespace {

/// Why the priority of a job cannot be changed, if it cannot.
std::optional<Refusal> check_priority_of(JobState state, bool has_its_own,
                                         std::string_view signal_name) {
  if (is_end(state)) {
    return Refusal{409, "finished",
                   "the job is " + std::string(to_string(state)) + ": its priority stays"};
  }
  if (has_its_own) return std::nullopt;
  return Refusal{409, "follows_signal",
                 "the job follows its signal: change /signals/" + std::string(signal_name)};
}

std::optional<Refusal> check_priority_of(const Job& job) {
  return check_priority_of(job.state(), job.fixed_priority.has_value(), job.signal_name);
}

}  // namespace

Result<Api::Step> Api::put_job(const Route& route, const Target& target, Client& client) {
  const auto priority = read_new_priority(target, client);
  if (!priority) return priority.error();
  const auto job = service_.find(client, route.name);
  if (service_.keeper() == nullptr) {
    if (!job) return no_such_job();
    return as_step(set_priority(*job, *priority, client));
  }
  if (!job) {
    return Step(find_stored(route.name, client,
                            [this, priority = *priority, &client](const StoredJob& stored) {
                              return store_priority(stored, priority, client);
                            }));
  }
  if (auto refusal = check_priority_of(*job)) return std::move(*refusal);
  return Step(storing(service_.keeper()->journal().set_priority(job->id, *priority),
                      [this, job, priority = *priority, &client](auto) -> Outcome {
                        return as_outcome(set_priority(*job, priority, client));
                      }));
}

/// It may have ended since it was asked for.
Api::Handled Api::set_priority(Job& job, heist::TaskPriority priority, Client& client) {
  if (auto refusal = check_priority_of(job)) return std::move(*refusal);
  if (job.finished()) {  // the next server goes on with it
    job.fixed_priority = priority;
  } else {
    service_.set_priority(client, job, priority);
  }
  return job_reply(200, job);
}

/// Of a job that memory has not, or not yet: one of a kind that this server does not have.
Api::Outcome Api::store_priority(StoredJob job, heist::TaskPriority priority, Client& client) {
  if (auto refusal = check_priority_of(state_of(job), job.priority.has_value(), job.signal_name)) {
    return make_reply(*refusal);
  }
  job.priority = priority;
  return storing(service_.keeper()->journal().set_priority(job.id, priority),
                 [this, job, priority, &client](JobJournal::Effect effect) -> Outcome {
                   const auto now = service_.find(client, job.id);
                   if (!now && effect == JobJournal::Effect::late) {
                     return describe_stored(job.id, client);
                   }
                   if (!now) {
                     service_.move_waiting(client, job.id, priority);
                     client.events.job_changed(summary_of(job, client));
                     return summary_reply(200, summary_of(job, client));
                   }
                   return as_outcome(set_priority(*now, priority, client));
                 });
}

}  // namespace heistd
