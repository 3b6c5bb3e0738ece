// Requests that the journal is to have before they take effect.
#include <heistd/api.hpp>
#include <heistd/api_storing.hpp>
#include <heistd/json.hpp>
#include <heistd/kept_job.hpp>
#include <heistd/limits.hpp>
#include <heistd/network_reserve.hpp>
#include <heistd/routes.hpp>
#include <heistd/stored_result.hpp>
#include <utility>

namespace heistd {
namespace {

using Submitted = JobJournal::Submitted;

/// A job whose upload is over, until the journal has it.
struct Kept : KeptJob {
  Quota::Share share;
};

/// Why no job of the client can follow this one any more; nothing if one can.
std::optional<Refusal> refuse_to_follow(const Client& client, const JobId& id,
                                        const std::optional<StoredJob>& found) {
  if (!found || found->client != client.name) return no_predecessor(id);
  if (!is_end(found->state) || found->state == StoredState::done) return std::nullopt;
  return predecessor_has_failed(id);
}

}  // namespace

/// Nothing when the request may go on. What the journal says once the upload is over decides: the
/// job may end until then.
std::optional<Result<Api::Step>> Api::judge_predecessor(Client& client, const JobId& id,
                                                        Unchecked unchecked) {
  if (id.empty()) return std::nullopt;
  switch (service_.predecessor(client, id)) {
    case JobService::Predecessor::failed:
      return Result<Step>(predecessor_has_failed(id));
    case JobService::Predecessor::unknown:
      break;
    default:
      return std::nullopt;
  }
  if (service_.keeper() == nullptr) return Result<Step>(no_predecessor(id));
  if (unchecked == Unchecked::accept) return std::nullopt;
  return Result<Step>(Step(check_predecessor(client, id)));
}

/// Of a job that only the journal may know.
Checking Api::check_predecessor(const Client& client, const JobId& id) {
  auto known = heist::Promise<void>::with_resolver();
  const auto refusal = std::make_shared<std::optional<Refusal>>();
  service_.keeper()->when(service_.keeper()->journal().find(id),
                          [&client, id, refusal, resolver = std::move(known.resolver)](
                              const JournalResult<std::optional<StoredJob>>& found) mutable {
                            if (found) *refusal = refuse_to_follow(client, id, *found);
                            resolver.resolve();
                          });
  return {known.promise, refusal};
}

Result<Api::Outcome> Api::store(Upload upload) {
  const NetworkReserve::Withheld only_what_is_left;
  const auto kept = std::make_shared<Kept>(
      Kept{{upload.client(), upload.request(), upload.take_ticket(), make_job_id(), upload.size()},
           upload.take_wait()});
  if (auto refusal = JobService::refuse_signal(kept->client, kept->request.signal_name)) {
    return std::move(*refusal);
  }
  if (auto refusal = service_.reserve(kept->request, kept->bytes, kept->ticket)) {
    return std::move(*refusal);
  }
  auto answer =
      service_.keeper()->journal().submit(new_job(*kept, upload.take_key(), upload.take_blocks()));
  return storing(answer, [this, kept](const Submitted& submitted) -> Outcome {
    const auto wait = kept->request.wait;
    if (auto refusal = refusal_of(submitted, kept->request.after)) return make_reply(*refusal);
    kept->request.follows = submitted.follows;
    if (submitted.acceptance != JobJournal::Acceptance::accepted) {
      return repeated(submitted, kept->client, wait, std::move(kept->share));
    }
    auto job = service_.submit_kept(kept->client, kept->request, kept->id, kept->bytes,
                                    std::move(kept->ticket));
    if (!job) return not_begun(kept->client, kept->id, job.error());
    if (!*job) return accepted(kept->client, waiting_summary(*kept));
    return accepted(kept->client, std::move(*job), wait, std::move(kept->share));
  });
}

/// Of a job that waits for its turn.
Api::Outcome Api::accepted(Client& client, const JobSummary& job) {
  client.events.job_changed(job);
  return with_location(summary_reply(202, job), job.id);
}

/// The answer for a job that the journal has accepted and this server cannot begin. As it ends, the
/// next one does it; otherwise the job is refused, once the journal has forgotten it, or a kill of
/// the server would bring it about all the same.
Api::Outcome Api::not_begun(Client& client, const JobId& id, const Refusal& refusal) {
  if (service_.shutting_down()) {
    return find_stored(id, client, [&client](const StoredJob& stored) -> Outcome {
      return with_location(summary_reply(202, summary_of(stored, client)), stored.id);
    });
  }
  auto& keeper = *service_.keeper();
  const auto why = aborted_because("the server had no room for the job");
  keeper.abort(id, why);  // again and again, if the journal cannot have it now
  return storing(keeper.journal().abort(id, why),
                 [refusal](const auto&) -> Outcome { return make_reply(refusal); });
}

/// The answer when a key stands for a job already. Only the first request waits for its end without
/// a limit, as it aborts the job when it goes.
Api::Outcome Api::repeated(const Submitted& submitted, Client& client, Patience wait,
                           Quota::Share share) {
  if (submitted.acceptance == JobJournal::Acceptance::conflicting) {
    return make_reply({422, "idempotency_conflict",
                       "the key was given with another request, of job " + submitted.id,
                       "Idempotency-Key"});
  }
  if (auto job = service_.find(client, submitted.id)) {
    return repeated(std::move(job), client, wait, std::move(share));
  }
  const auto kept = std::make_shared<Quota::Share>(std::move(share));
  return storing(
      service_.keeper()->journal().find(submitted.id),
      [this, id = submitted.id, &client, wait, kept](const std::optional<StoredJob>& stored) {
        return repeated_of_journal(stored, id, client, wait, std::move(*kept));
      });
}

Api::Outcome Api::repeated(std::shared_ptr<Job> job, Client& client, Patience wait,
                           Quota::Share share) {
  if (!wait.most && !job->finished()) wait = {};
  return accepted(client, std::move(job), wait, std::move(share));
}

/// The same when the server has no Job of it: it waits for its turn, or has finished, or is to be
/// done by a later server, as this one did not know its client when it started.
Api::Outcome Api::repeated_of_journal(const std::optional<StoredJob>& stored, const JobId& id,
                                      Client& client, const Patience& wait, Quota::Share share) {
  const NetworkReserve::Withheld only_what_is_left;
  if (auto job = service_.find(client, id)) {  // it has come meanwhile
    return repeated(std::move(job), client, wait, std::move(share));
  }
  if (stored && is_end(stored->state) && service_.keeper()->is_shared()) {
    const auto kept = std::make_shared<Quota::Share>(std::move(share));
    return with_ended(*stored, client, [&client, wait, kept](std::shared_ptr<Job> job) {
      return repeated(std::move(job), client, wait, std::move(*kept));
    });
  }
  if (!stored || is_end(stored->state)) {
    return make_reply({409, "result_gone",
                       "job " + id + " has finished, and its result is not kept any more",
                       "Idempotency-Key"});
  }
  if (auto job = wait.most ? service_.bring(client, *stored) : nullptr) {
    return accepted(client, std::move(job), wait, std::move(share));
  }
  return with_location(summary_reply(202, summary_of(*stored, client)), id);
}

/// Goes on with a job that has ended, and that memory has not kept: where servers share a journal,
/// only that has the ends of all of them.
Api::Outcome Api::with_ended(const StoredJob& stored, Client& client,
                             std::function<Outcome(std::shared_ptr<Job>)> then) {
  const auto* const kind = kinds_.find(stored.kind);
  if (kind == nullptr) return summary_reply(200, summary_of(stored, client));
  if (stored.state != StoredState::done) {
    return then(service_.restore_finished(client, *kind, stored, nullptr));
  }
  return storing(
      service_.keeper()->journal().read_result(stored.id, {0, stored.result_bytes}),
      [this, stored, kind, &client, then = std::move(then)](const std::string& bytes) -> Outcome {
        auto result =
            std::make_shared<const JobResult>(from_stored(stored.result_description, bytes));
        return then(service_.restore_finished(client, *kind, stored, std::move(result)));
      });
}

std::optional<Refusal> Api::note_key(const RequestHead& head, Upload& upload) const {
  if (!head.idempotency_key) return std::nullopt;
  if (service_.keeper() == nullptr) {
    return Refusal{400, "no_journal", "this server keeps no keys: it runs without --data",
                   "Idempotency-Key"};
  }
  if (!is_idempotency_key(*head.idempotency_key)) {
    return Refusal{400, "bad_parameter", "must be 1 to 255 characters of ASCII, without spaces",
                   "Idempotency-Key"};
  }
  upload.set_key(*head.idempotency_key, head.target);
  return std::nullopt;
}

/// What has been answered is so after the next start, too.
Result<Api::Step> Api::store_change(const Route& route, const Target& target, Client& client) {
  if (route.method == Method::erase) {
    if (auto refusal = QueryReader(target).finish()) return std::move(*refusal);
    return store_erasure(route, client);
  }
  const auto priority = read_new_priority(target, client);
  if (!priority) return priority.error();
  if (auto refusal = JobService::refuse_signal(client, route.name)) return std::move(*refusal);
  auto& journal = service_.keeper()->journal();
  auto answer = journal.set_signal(client.name, route.name, *priority);
  return Step(storing(answer, [this, &journal, route, target, &client](auto) -> Outcome {
    auto put = put_signal(route, target, client);
    if (put) return std::move(*put);
    // Others have taken the last names while the journal was asked.
    service_.keeper()->watch(journal.drop_signal(client.name, route.name));
    return make_reply(put.error());
  }));
}

Result<Api::Step> Api::store_erasure(const Route& route, Client& client) {
  auto& journal = service_.keeper()->journal();
  if (route.resource == Resource::signal) {
    const bool is_known = client.signals.find(route.name) != nullptr;
    if (!is_known && !service_.keeper()->is_shared()) {
      return not_found("this client has no such signal");
    }
    return Step(storing(journal.drop_signal(client.name, route.name),
                        [this, route, &client](JobJournal::Effect effect) -> Outcome {
                          auto erased = handle_plain(route, client);
                          // Only other servers had jobs of this signal.
                          const bool is_gone = effect == JobJournal::Effect::stored;
                          if (!erased && is_gone) return json_reply(200, {{"signal", route.name}});
                          return as_outcome(std::move(erased));
                        }));
  }
  const auto job = service_.find(client, route.name);
  if (!job) {
    return Step(find_stored(route.name, client, [this, &client](const StoredJob& stored) {
      return erase_stored(stored, client);
    }));
  }
  if (job->finished()) {
    return Step(purge(job->id, client, [job] { return job_reply(200, *job); }));
  }
  return Step(storing(journal.abort(job->id, aborted_because(job_deleted)),
                      [this, job, &client](const auto&) -> Outcome {
                        // As the server ends, only the journal may know the job by now.
                        if (!service_.find(client, job->id))
                          return describe_stored(job->id, client);
                        return abort_job(*job, client);
                      }));
}

}  // namespace heistd
